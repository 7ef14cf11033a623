/** Reasons under each call, below what pi itself draws. */
import * as host from "@mariozechner/pi-coding-agent";
import { Container, Text } from "@mariozechner/pi-tui";
import { objectsAt } from "./arguments.ts";
import type { Plan } from "./schema.ts";
import { complaints, plain } from "./text.ts";

type Draw = (...args: any[]) => any;

/** What pi 1.x has and 0.73 lacks. */
interface Renderers {
	registerToolRenderer?: (resolver: (tool: string, next: () => any) => any) => void;
}

const INNER = Symbol("tool-intent.inner");
const PATCHED = Symbol.for("tool-intent.pi.rendering");

/** The reasons that a call gives, a line each: `intent: …`, `edits[1] rationale: …`. */
export function reasons(args: unknown, plan: Plan | undefined): string[] {
	const lines: string[] = [];
	for (const { at, properties } of plan?.places ?? []) {
		for (const [path, place] of objectsAt(args, at)) {
			for (const [name] of properties) {
				if (Object.hasOwn(place, name)) lines.push(`${spoken(path)}${name}: ${plain(place[name])}`);
			}
		}
	}
	return lines;
}

/** A path as people write it: `edits[1] `; empty for the call itself. */
function spoken(path: (string | number)[]): string {
	const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
	return steps.length > 0 ? `${steps.join("").slice(1)} ` : "";
}

/** What is drawn under calls: the reasons that a tool's calls carry, and our words by a call's id. */
export interface Known {
	plan(tool: string): Plan | undefined;
	words(id: string): string | undefined;
	/** Have a result drawn anew once there are words for its call. */
	later(id: string, draw: () => void): void;
}

/** Draws what `base` draws of a call, and the reasons below. */
function withReasons(base: Draw, tool: string, known: Known, pad: number): Draw {
	return (args, theme, context) => {
		const inner = base(args, theme, { ...context, lastComponent: context.state[INNER] });
		context.state[INNER] = inner;
		const lines = reasons(args, known.plan(tool));
		const box = new Container();
		box.addChild(inner);
		if (lines.length > 0) box.addChild(new Text(theme.fg("muted", lines.join("\n")), pad, 0));
		return box;
	};
}

/** Draws what `base` draws of a result, and our words where pi's own check of the arguments spoke. */
function withWords(base: Draw, known: Known): Draw {
	return (result, options, theme, context) => {
		const text = result?.content?.[0]?.text;
		const lines = context.isError && typeof text === "string" ? complaints(text) : undefined;
		const words = known.words(context.toolCallId);
		if (lines && words === undefined) known.later(context.toolCallId, context.invalidate);
		const said = words ?? lines?.join("\n");
		const shown = lines ? { ...result, content: [{ type: "text", text: said }] } : result;
		return base(shown, options, theme, context);
	};
}

/** Draw reasons under every call that pi has a renderer for. */
export function drawReasons(pi: unknown, known: Known): void {
	const { registerToolRenderer } = pi as Renderers;
	if (registerToolRenderer) {
		registerToolRenderer.call(pi, (tool, next) => {
			const base = next();
			if (!base?.renderCall) return base;
			const pad = base.renderShell === "self" ? 1 : 0;
			const drawn = { ...base, renderCall: withReasons(base.renderCall, tool, known, pad) };
			return base.renderResult ? { ...drawn, renderResult: withWords(base.renderResult, known) } : drawn;
		});
		return;
	}
	// pi 0.73 has no place for this, and asks the component of a call for its renderers.
	const component = (host as any).ToolExecutionComponent?.prototype;
	if (typeof component?.getCallRenderer !== "function" || typeof component?.getResultRenderer !== "function") return;
	const { call, result } = (component[PATCHED] ??= { call: component.getCallRenderer, result: component.getResultRenderer });
	component.getCallRenderer = function (this: any) {
		const base = call.call(this);
		return base && withReasons(base, this.toolName, known, this.getRenderShell?.() === "self" ? 1 : 0);
	};
	component.getResultRenderer = function (this: any) {
		const base = result.call(this);
		return base && withWords(base, known);
	};
}
