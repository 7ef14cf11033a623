/** Intent and rationale under each call, below what pi itself draws. */
import * as host from "@mariozechner/pi-coding-agent";
import { Container, Text } from "@mariozechner/pi-tui";
import { objectsAt } from "./arguments.ts";
import type { Plan } from "./schema.ts";
import { plain } from "./text.ts";

type Render = (args: any, theme: any, context: any) => any;

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

/** A renderer that draws what `base` draws, and the reasons below. */
export function withReasons(base: Render, plan: () => Plan | undefined): Render {
	return (args, theme, context) => {
		const inner = base(args, theme, { ...context, lastComponent: context.state[INNER] });
		context.state[INNER] = inner;
		const lines = reasons(args, plan());
		const box = new Container();
		box.addChild(inner);
		if (lines.length > 0) box.addChild(new Text(theme.fg("muted", lines.join("\n")), 0, 0));
		return box;
	};
}

/** Draw reasons under every call that pi has a renderer for. */
export function drawReasons(pi: unknown, planOf: (tool: string) => Plan | undefined): void {
	const { registerToolRenderer } = pi as Renderers;
	if (registerToolRenderer) {
		registerToolRenderer.call(pi, (tool, next) => {
			const base = next();
			return base?.renderCall ? { ...base, renderCall: withReasons(base.renderCall, () => planOf(tool)) } : base;
		});
		return;
	}
	// pi 0.73 has no place for this, and asks the component of a call for its renderer.
	const component = (host as any).ToolExecutionComponent?.prototype;
	if (typeof component?.getCallRenderer !== "function") return;
	const base = (component[PATCHED] ??= component.getCallRenderer);
	component.getCallRenderer = function (this: any) {
		const render = base.call(this);
		return render && withReasons(render, () => planOf(this.toolName));
	};
}
