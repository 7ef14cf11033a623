/**
 * tool-intent for the pi coding agent: each call carries its reasons, and is judged before it runs.
 *
 * `tool_call` decides, and depends on nothing else here: a tool whose schema could not be changed,
 * an engine that is gone, an error in this file deny.
 */
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { asSent, brief, type Omitted, repaired, strip } from "./arguments.ts";
import { report } from "./command.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { drawReasons, reasons } from "./rendering.ts";
import { gap, type Stretch } from "./bridge.ts";
import { Session } from "./session.ts";
import { shadow } from "./shadow.ts";
import { complaints, plain, textOf, theirs, unjudged, unreadable, withComplaints } from "./text.ts";

const NAME = "tool-intent";
const LONGEST_ASKED = 600;

/** What the engine answers to `decide`; see `Judgement` in `surfaces/judging.py`. */
interface Judgement {
	decision: "allow" | "ask" | "deny";
	message: string | null;
	strip: (string | number)[][];
	stop: boolean;
}

/** What a `tool_call` handler may answer; pi 0.73 does not know `terminate`, and ignores it. */
interface Block {
	block: true;
	reason: string;
	terminate?: boolean;
}

export default function (pi: ExtensionAPI): void {
	let installed: Manifest | undefined;
	let broken = "";
	try {
		installed = manifest();
		if (installed.mode === "shadow") shadow(pi);
	} catch (error) {
		broken = (error as Error).message;
	}
	let session: Session | undefined;
	let warned = new Set<string>();
	/** Arguments as the model sent them, of calls that pi has not answered yet. */
	const sent = new Map<string, unknown>();
	/** What came of calls of this turn: told when it is over, so that they do not help each other. */
	const outcomes = new Map<string, { ok: boolean; result: string }>();
	/** What the user said since the last call was judged. */
	let heard: string[] = [];
	let stop = false;
	const endsByItself = "registerToolRenderer" in pi;

	function opened(ctx: ExtensionContext): Session {
		if (!installed) throw new Error(broken);
		const id = ctx.sessionManager.getSessionId();
		if (session?.id !== id) session = new Session(pi, id, installed.python, ctx.cwd, earlier(ctx, id));
		session.context = { agent: "pi", model: ctx.model?.id, cwd: ctx.cwd };
		return session;
	}

	/** What was held of the session, in the session itself. */
	function earlier(ctx: ExtensionContext, id: string): Stretch[] {
		const entries: any[] = ctx.sessionManager.getEntries();
		const last = entries.findLastIndex((one) => one.type === "custom" && one.customType === NAME && one.data?.earlier);
		const found: Stretch[] = last < 0 ? [] : entries[last].data.earlier;
		const isCall = (part: any) => part.type === "toolCall";
		const more = entries.slice(last + 1).some((one) => one.message?.role === "assistant" && one.message.content?.some?.(isCall));
		// Calls that nothing was held of: any may have been made.
		return more ? [...found, gap(id)] : found;
	}

	/** Tell a person what they should know, once. */
	function warn(ctx: ExtensionContext, text: string): void {
		if (warned.has(text)) return;
		warned.add(text);
		let person = false;
		try {
			person = ctx.hasUI;
		} catch {
			return; // the session is over: pi 0.73 tells of its last events when it has ended
		}
		if (person) ctx.ui.notify(`${NAME}: ${plain(text, 600)}`, "warning");
		else console.error(`${NAME}: ${plain(text, 600)}`);
	}

	/** Advertise what is new; what fails here is told, and denied when a call comes. */
	async function sweep(ctx: ExtensionContext): Promise<void> {
		try {
			const here = opened(ctx);
			await here.sweep();
			for (const note of here.bridge.state?.notes ?? []) warn(ctx, note);
			for (const [tool, why] of here.unadvertised) {
				warn(ctx, `the fields of ${tool} are not advertised: ${why}. Its calls are judged all the same.`);
			}
		} catch (error) {
			warn(ctx, `every call is denied: ${(error as Error).message}`);
		}
	}

	async function begun(ctx: ExtensionContext): Promise<void> {
		await sweep(ctx);
		const state = session?.bridge.state;
		if (!session || !state) return;
		pi.appendEntry(NAME, { engine: state.engine, policies: state.policies });
		const { covered } = session.coverage;
		ctx.ui.setStatus(NAME, `${NAME} ${state.policies[0].slice(7, 15)}: asks of ${covered.length} tools`);
	}

	async function judged(here: Session, tool: string, input: unknown, id: string, more: object): Promise<Judgement> {
		const plan = here.plans.get(tool);
		const { args, omitted } = brief(asSent(input, repaired(sent.get(id), plan), plan), plan);
		const params: Record<string, unknown> = { tool, args, id, session: here.id, context: here.context, ...more };
		if (omitted.length > 0) params.omitted = omitted satisfies Omitted[];
		if (here.bridge.state?.readsHistory) {
			params.now = Date.now() / 1000;
			if (heard.length > 0) params.context = { ...here.context, messages: heard };
		}
		heard = [];
		return here.bridge.call("decide", params);
	}

	function refusal(ctx: ExtensionContext, tool: string, reason: string, ended = false): Block {
		session?.refused(tool, reason);
		// pi 1.x takes no answer from a run that was aborted, and has `terminate`; pi 0.73 goes on to the
		// next request before it tells that the turn is over.
		if (ended && endsByItself) stop = true;
		else if (ended) ctx.abort();
		return ended ? { block: true, reason, terminate: true } : { block: true, reason };
	}

	/** Whether the person says yes to these very arguments, which are frozen by now. */
	async function approved(ctx: ExtensionContext, tool: string, original: unknown, input: unknown, message: string): Promise<boolean> {
		const why = message.split("\n").slice(1, -1).map((line) => plain(line, 300));
		const lines = [...why, "", ...reasons(original, session?.plans.get(tool)), "", plain(JSON.stringify(input), LONGEST_ASKED)];
		return ctx.ui.confirm(`${NAME}: may ${plain(tool, 80)} run?`, lines.join("\n"), { signal: ctx.signal });
	}

	async function asked(ctx: ExtensionContext, event: any, given: Judgement): Promise<Block | undefined> {
		const here = opened(ctx);
		const tool = event.toolName;
		const message = given.message ?? "";
		const said = message.split("\n").slice(0, -1).join("\n");
		const original = structuredClone(event.input);
		strip(event.input, given.strip);
		if (ctx.hasUI && (await approved(ctx, tool, original, event.input, message))) return undefined;
		const { enough } = await here.bridge.call("refused", { session: here.id, tool });
		const who = ctx.hasUI ? "The user said no." : "Nobody could be asked here.";
		const then = enough ?? "Do not send it again: ask the user how to go on.";
		return refusal(ctx, tool, `${said}\n${who} ${then}`, enough !== null);
	}

	pi.on("session_start", async (_event, ctx) => {
		warned = new Set();
		await begun(ctx);
	});
	/** Before the model is asked: the policy as it is now, and every tool that there is now. */
	async function renew(ctx: ExtensionContext): Promise<void> {
		try {
			if (await opened(ctx).refresh()) pi.appendEntry(NAME, { policies: session?.bridge.state?.policies });
		} catch {
			// The sweep tells it.
		}
		await sweep(ctx);
	}
	pi.on("before_agent_start", async (_event, ctx) => sweep(ctx));
	pi.on("turn_start", async (_event, ctx) => renew(ctx));
	pi.on("tool_execution_start", async (event, ctx) => {
		sent.set(event.toolCallId, event.args);
		await sweep(ctx);
	});

	pi.on("tool_call", async (event: any, ctx): Promise<Block | undefined> => {
		const tool: string = event.toolName;
		try {
			await sweep(ctx);
			const before = JSON.stringify(event.input);
			const more = event.parentToolCallId ? { parent: event.parentToolCallId } : {};
			const given = await judged(opened(ctx), tool, event.input, event.toolCallId, more);
			// Another handler may still be at work on them.
			if (JSON.stringify(event.input) !== before) throw new Error("the arguments changed while they were judged");
			if (given.decision === "allow") strip(event.input, given.strip);
			else if (given.decision === "ask") return await asked(ctx, event, given);
			else return refusal(ctx, tool, given.message ?? unjudged(tool, "no reason was given"), given.stop);
			return undefined;
		} catch (error) {
			return refusal(ctx, tool, unjudged(tool, (error as Error).message, session?.bridge.recovers));
		}
	});

	pi.on("tool_result", async (event) => {
		outcomes.set(event.toolCallId, { ok: !event.isError, result: textOf(event.content) });
		try {
			// For the record, while the files are as this call left them.
			const outcome = event.isError ? "failed" : "passed";
			if (session?.bridge.pid) await session.bridge.call("ended", { session: session.id, id: event.toolCallId, outcome });
		} catch {
			// The engine is gone: the next call is denied, or judged by one that is told all again.
		}
	});

	/**
	 * pi's own check of the arguments echoes them all: a large file costs the model thousands of
	 * tokens. Ours says what it needs to know; it is worked out once for each call.
	 */
	const reworded = new Map<string, Promise<string>>();
	const said = new Map<string, string>();
	/** Draws results anew that were drawn before there were words for them. */
	const drawn = new Map<string, () => void>();
	async function better(ctx: ExtensionContext, message: any, input: unknown): Promise<any> {
		const [first] = message.content ?? [];
		const lines = message.isError && first?.type === "text" ? complaints(first.text) : undefined;
		if (!lines) return undefined;
		const id = message.toolCallId;
		const key = `${id}\n${first.text}`; // some models give one id to many calls
		if (!reworded.has(key)) reworded.set(key, worded(ctx, message.toolName, input, id, lines));
		const text = await reworded.get(key)!;
		said.set(id, text);
		drawn.get(id)?.();
		return { ...message, content: [{ type: "text", text }] };
	}
	pi.on("message_end", async (event, ctx) => {
		const message: any = event.message;
		if (message.role === "user") heard.push(textOf(message.content));
		if (message.role !== "toolResult") return undefined;
		const changed = await better(ctx, message, sent.get(message.toolCallId));
		return changed && { message: changed };
	});
	// pi 0.73 asks the model without waiting for what `message_end` and `turn_start` are to change.
	pi.on("context", async (event, ctx) => {
		await renew(ctx);
		const messages: any[] = event.messages;
		const last = messages.findLastIndex((message) => message.role === "assistant");
		const made = new Map<string, unknown>();
		for (const part of messages[last]?.content ?? []) if (part.type === "toolCall") made.set(part.id, part.arguments);
		for (let n = last + 1; n < messages.length; n += 1) {
			const { role, toolCallId } = messages[n];
			if (role === "toolResult") messages[n] = (await better(ctx, messages[n], made.get(toolCallId))) ?? messages[n];
		}
		return { messages };
	});

	/** Our message for arguments that pi's own check refused. */
	async function worded(ctx: ExtensionContext, tool: string, input: unknown, id: string, lines: string[]): Promise<string> {
		const named = plain(tool, 80);
		const own = (then: string) => withComplaints(`pi refused this ${named}; nothing was executed.\n${then}`, lines);
		const corrected = "Send the call again with these corrected.";
		try {
			const here = session ?? opened(ctx);
			const plan = here.plans.get(tool);
			const given = unreadable(lines) ? undefined : await judged(here, tool, repaired(input, plan), id, { invalid: true });
			if (given?.decision === "allow") await here.bridge.call("outcome", { session: here.id, id, outcome: "failed" });
			if (given?.decision === "deny" && given.message) {
				const rest = theirs(lines, plan?.fields ?? []);
				return refusal(ctx, tool, withComplaints(given.message, rest), given.stop).reason;
			}
			const { enough } = await here.bridge.call("refused", { session: here.id, tool });
			return refusal(ctx, tool, own(enough ?? corrected), enough !== null).reason;
		} catch {
			return refusal(ctx, tool, own(corrected)).reason;
		}
	}

	pi.on("turn_end", async (event, ctx) => {
		const ends = stop;
		stop = false;
		try {
			for (const [id, { ok, result }] of session ? outcomes : []) {
				const more = session?.bridge.state?.readsHistory ? { result } : {};
				await session?.bridge.call("outcome", { session: session.id, id, outcome: ok ? "passed" : "failed", ...more });
			}
		} catch {
			// The engine is gone: the next call is denied, or judged by one that is told all again.
		}
		try {
			const held = event.toolResults.length > 0 ? await session?.held() : undefined;
			if (held) pi.appendEntry(NAME, { earlier: held });
		} catch {
			// As above.
		}
		outcomes.clear();
		sent.clear();
		if (ends) ctx.abort();
	});

	pi.on("session_shutdown", async (event) => {
		session?.close(event.reason === "reload");
		session = undefined;
	});

	pi.registerCommand(NAME, {
		description: "What tool-intent enforces here: policy, sources, tools, last refusals",
		handler: async (_args, ctx) => {
			try {
				await sweep(ctx);
				ctx.ui.notify((await report(opened(ctx))).join("\n"), "info");
			} catch (error) {
				ctx.ui.notify(`${NAME}: every call is denied: ${(error as Error).message}`, "error");
			}
		},
	});

	drawReasons(pi, {
		plan: (tool) => session?.plans.get(tool),
		words: (id) => said.get(id),
		later: (id, draw) => drawn.set(id, draw),
	});
}
