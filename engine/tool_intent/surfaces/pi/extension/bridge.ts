/**
 * The policy engine, a long-lived Python child spoken to in newline-delimited JSON-RPC 2.0.
 *
 * Fails closed: whatever keeps an answer away (no interpreter, death, silence past the deadline, an
 * answer that is none) rejects every call that waits, and the caller denies.
 */
import { type ChildProcess, spawn } from "node:child_process";

export const PROTOCOL = 1;
const MAIN = "from tool_intent.surfaces.bridge import main; main()";
/** Milliseconds that starting, one question of a start, and one decision may take. */
const START_DEADLINE = 20_000;
const DEADLINE = 5_000;
/** Milliseconds before the one new start after a failure. */
const BACK_OFF = 250;
/** What is remembered to tell a new child of: calls, and bytes of their arguments. */
const MOST_REMEMBERED = 10_000;
const MOST_BYTES = 64 << 20;
const LONGEST_COMPLAINT = 2_000;

/** The policies in force, as `surfaces/judging.py` gives them. */
export interface PolicyState {
	policies: string[];
	held: string[];
	notes: string[];
	asks: boolean;
	readsHistory: boolean;
	maxRetries: number;
	engine?: string;
	python?: string;
}

/** What was recorded of a session by one engine, as `ledger/recorder.py` says; empty texts for what is not known. */
export interface Stretch {
	session: string;
	since: string;
	head: string;
	own: string;
}

/** A session that went on before this host began. */
export interface Resumed {
	session: string;
	earlier: Stretch[];
}

/** What stands for calls that nobody knows of. */
export function gap(session: string): Stretch {
	return { session, since: "", head: "", own: "" };
}

interface Waiting {
	resolve: (value: any) => void;
	reject: (error: Error) => void;
	timer: NodeJS.Timeout;
}

/** An answer that says no; the child itself is well. */
export class Refused extends Error {}

export class Bridge {
	/** What the engine last said of the policies; undefined until it has been reached. */
	state: PolicyState | undefined;
	private child: ChildProcess | undefined;
	private starting: Promise<void> | undefined;
	private waiting = new Map<number, Waiting>();
	private next = 1;
	private failures = 0;
	private failure = "";
	private complaint = "";
	private remembered: string[] = [];
	private bytes = 0;
	private forgot = false;
	/** Whether a call was recorded since `held` was asked last, and whether an engine died with such calls. */
	private unheld = false;
	private lost = false;
	private readonly onExit = () => this.child?.kill("SIGKILL");

	constructor(
		private readonly python: string,
		private readonly cwd: string,
		private readonly resumed: Resumed,
	) {}

	/** The engine's process id, while it runs. */
	get pid(): number | undefined {
		return this.child?.pid;
	}

	/** The result of a method; starts the engine if need be. Rejects where there is none in time. */
	async call(method: string, params: object, deadline = DEADLINE): Promise<any> {
		if (!this.child) await (this.starting ??= this.start().finally(() => (this.starting = undefined)));
		const result = await this.send(method, params, deadline);
		if (this.state?.readsHistory && (method === "decide" || method === "outcome")) this.remember(method, params);
		if (method === "decide") this.unheld = true;
		if (method === "held") this.unheld = false;
		if (method === "reload") this.state = { ...this.state, ...result };
		return result;
	}

	/** Whether an engine died with calls of which nothing was held; told once. */
	takeLost(): boolean {
		const lost = this.lost;
		this.lost = false;
		return lost;
	}

	/** Whether the engine failed, and will be started anew for the next call. */
	get recovers(): boolean {
		return this.failures === 1;
	}

	/** Let the failures so far be forgotten: a person has asked for a new beginning. */
	forgive(): void {
		this.failures = 0;
	}

	/** End the engine; a stopped one cannot end by itself. Safe to call twice. */
	close(): void {
		process.removeListener("exit", this.onExit);
		const child = this.child;
		this.child = undefined;
		this.rejectAll(new Error("the session ended"));
		child?.removeAllListeners("exit");
		child?.kill("SIGKILL");
	}

	private async start(): Promise<void> {
		if (this.failures > 1) {
			throw new Error(
				`${this.failure}; it failed again after a new start: run \`tool-intent doctor\`, then /reload`,
			);
		}
		if (this.failures === 1) await new Promise((resolve) => setTimeout(resolve, BACK_OFF));
		this.spawn();
		try {
			const held = this.state?.held ?? [];
			// Whatever an engine of ours judged is told again: it is not missing in what was held.
			const resumed = { ...this.resumed, retold: this.state !== undefined };
			const hello = { protocol: PROTOCOL, cwd: this.cwd, held, resumed };
			this.state = await this.send("hello", hello, START_DEADLINE);
			await this.retell();
		} catch (error) {
			if (error instanceof Refused) this.fail(error.message);
			throw error;
		}
	}

	/** Tell a new child what the earlier one knew of the session, where rules ask for that. */
	private async retell(): Promise<void> {
		if (this.forgot) {
			throw new Refused("the engine was started again and cannot be told of all earlier calls; start a new session");
		}
		for (const line of this.remembered) {
			const { method, params } = JSON.parse(line);
			await this.send(method, { ...params, again: true }, DEADLINE);
		}
	}

	private remember(method: string, params: object): void {
		const line = JSON.stringify({ method, params });
		this.remembered.push(line);
		this.bytes += line.length;
		if (this.remembered.length > MOST_REMEMBERED || this.bytes > MOST_BYTES) {
			this.bytes -= this.remembered.shift()!.length;
			this.forgot = true;
		}
	}

	private spawn(): void {
		this.complaint = "";
		const child = spawn(this.python, ["-I", "-c", MAIN], { cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
		this.child = child;
		let rest = "";
		child.stdout!.setEncoding("utf8");
		child.stdout!.on("data", (text: string) => {
			const lines = (rest + text).split("\n");
			rest = lines.pop()!;
			for (const line of lines) this.answered(child, line);
		});
		child.stderr!.setEncoding("utf8");
		child.stderr!.on("data", (text: string) => {
			this.complaint = (this.complaint + text).slice(-LONGEST_COMPLAINT);
		});
		const failed = (why: string) => this.child === child && this.fail(why);
		child.on("error", (error) => failed(`the policy engine cannot be started with ${this.python} (${error.message})`));
		child.on("exit", (code, signal) => failed(`the policy engine ended (${signal ?? `exit code ${code}`})${this.said()}`));
		child.stdin!.on("error", () => {}); // its end is told by "exit"
		process.removeListener("exit", this.onExit);
		process.on("exit", this.onExit);
		this.letGo();
	}

	private said(): string {
		const last = this.complaint.trim().split("\n").pop();
		return last ? `: ${last}` : "";
	}

	private answered(child: ChildProcess, line: string): void {
		if (this.child !== child) return;
		let message: any;
		try {
			message = JSON.parse(line);
		} catch {
			this.fail("the policy engine answered with something that is no JSON");
			return;
		}
		const waiting = this.waiting.get(message?.id);
		if (!waiting) return;
		this.waiting.delete(message.id);
		clearTimeout(waiting.timer);
		this.letGo();
		if (message.error) waiting.reject(new Refused(String(message.error.message)));
		else waiting.resolve(message.result);
	}

	private send(method: string, params: object, deadline: number): Promise<any> {
		return new Promise((resolve, reject) => {
			const child = this.child;
			if (!child) return reject(new Error(this.failure || "the policy engine does not run"));
			const id = this.next++;
			const timer = setTimeout(
				() => this.fail(`the policy engine gave no answer within ${deadline / 1000} s`),
				deadline,
			);
			this.waiting.set(id, { resolve, reject, timer });
			this.letGo();
			child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		});
	}

	/** Give up this child: nothing that it still says counts. */
	private fail(why: string): void {
		const child = this.child;
		this.child = undefined;
		this.failures += 1;
		this.lost ||= this.unheld;
		this.unheld = false;
		this.failure = why;
		child?.kill("SIGKILL");
		this.rejectAll(new Error(why));
	}

	private rejectAll(error: Error): void {
		const all = [...this.waiting.values()];
		this.waiting.clear();
		for (const { reject, timer } of all) {
			clearTimeout(timer);
			reject(error);
		}
	}

	/** Keep the host alive only while an answer is waited for, so that `pi -p` ends by itself. */
	private letGo(): void {
		const hold = this.waiting.size > 0 ? "ref" : "unref";
		const child = this.child as any;
		for (const one of [child, child?.stdin, child?.stdout, child?.stderr]) one?.[hold]?.();
	}
}
