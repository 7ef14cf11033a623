/** One session's state: the engine, what each tool advertises, and the last refusals. */
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Bridge, gap, type Stretch } from "./bridge.ts";
import { advertise, carries, original, type Plan } from "./schema.ts";

const MOST_REFUSALS = 10;

/** Engines by session: /reload loads this module anew, and the session goes on. */
const KEY = Symbol.for("tool-intent.pi.bridges");
const bridges: Map<string, Bridge> = ((globalThis as any)[KEY] ??= new Map());

/** A tool as pi tells of it. */
interface Told {
	name: string;
	description?: string;
	parameters?: any;
}

export interface Refusal {
	at: Date;
	tool: string;
	message: string;
}

export class Session {
	readonly bridge: Bridge;
	readonly refusals: Refusal[] = [];
	/** What the engine is told of every call. */
	context: object = {};
	/** Plans by tool, and why a tool's calls are judged though its fields are not advertised. */
	readonly plans = new Map<string, Plan>();
	readonly unadvertised = new Map<string, string>();
	/** What was asked for each schema, by the policies it was asked of. */
	private readonly done = new Map<string, { schema: object | undefined; policies: string }>();

	private readonly stretches: Stretch[];
	private sweeping: Promise<void> = Promise.resolve();

	constructor(
		private readonly pi: ExtensionAPI,
		readonly id: string,
		python: string,
		cwd: string,
		earlier: Stretch[],
	) {
		this.stretches = [...earlier];
		this.bridge = bridges.get(id) ?? new Bridge(python, cwd, { session: id, earlier });
		this.bridge.forgive();
		bridges.set(id, this.bridge);
	}

	/** End the engine, unless the session goes on. */
	close(goesOn: boolean): void {
		if (goesOn) return;
		this.bridge.close();
		bridges.delete(this.id);
	}

	/** What to hold of this session for a restart; undefined where nothing was recorded. */
	async held(): Promise<Stretch[] | undefined> {
		const { stretch } = await this.bridge.call("held", { session: this.id });
		const last = this.stretches.at(-1);
		if (!stretch) return undefined;
		if (stretch.since === last?.since) this.stretches.pop();
		else if (this.bridge.takeLost()) this.stretches.push(gap(this.id));
		this.stretches.push(stretch);
		return this.stretches;
	}

	/** Ask whether the policy is still the one that was read; true where it is another. */
	async refresh(): Promise<boolean> {
		const before = this.policies;
		await this.bridge.call("reload", {});
		return this.policies !== before;
	}

	/** Advertise the fields of every tool that pi has and that does not carry them yet. */
	sweep(): Promise<void> {
		// One after the other: pi tells of several events at once.
		const next = this.sweeping.catch(() => {}).then(() => this.swept());
		this.sweeping = next;
		return next;
	}

	private async swept(): Promise<void> {
		if (!this.bridge.state) await this.bridge.call("reload", {});
		const tools: Told[] = this.pi.getAllTools();
		const fresh = tools.filter((tool) => {
			const done = this.done.get(tool.name);
			return !done || done.schema !== objectOf(tool.parameters) || done.policies !== this.policies;
		});
		if (fresh.length === 0) return;
		const asked = fresh.map((tool) => {
			const schema = objectOf(tool.parameters);
			return { name: tool.name, description: tool.description, inputSchema: schema && original(schema) };
		});
		const policies = this.policies;
		const { tools: plans } = await this.bridge.call("extend", { tools: asked }, 20_000);
		fresh.forEach((tool, n) => this.apply(tool, plans[n], policies));
		this.test();
	}

	/** Remember a refusal for the person who asks. */
	refused(tool: string, message: string): void {
		this.refusals.unshift({ at: new Date(), tool, message });
		this.refusals.length = Math.min(this.refusals.length, MOST_REFUSALS);
	}

	/** Tools whose calls carry fields, and those that the policy asks nothing of. */
	get coverage(): { covered: string[]; others: string[] } {
		const covered: string[] = [];
		const others: string[] = [];
		for (const { name } of this.pi.getAllTools() as Told[]) {
			(this.plans.get(name)?.fields.length ? covered : others).push(name);
		}
		return { covered: covered.sort(), others: others.sort() };
	}

	private get policies(): string {
		return this.bridge.state?.policies.join(" ") ?? "";
	}

	private apply(tool: Told, plan: Plan, policies: string): void {
		this.plans.set(tool.name, plan);
		this.unadvertised.delete(tool.name);
		const schema = objectOf(tool.parameters);
		const reasons = plan.notAdvertised.map(([place, reason]) => (place ? `${place}: ${reason}` : reason));
		if (schema && plan.places.length > 0) {
			const failed = advertise(schema, plan);
			if (failed) reasons.push(failed);
		}
		if (reasons.length > 0) this.unadvertised.set(tool.name, reasons.join("; "));
		this.done.set(tool.name, { schema, policies });
	}

	/** Look again, at what pi itself gives: every covered tool must carry its fields. */
	private test(): void {
		for (const { name, parameters } of this.pi.getAllTools() as Told[]) {
			const plan = this.plans.get(name);
			if (!plan || plan.places.length === 0 || this.unadvertised.has(name)) continue;
			if (!objectOf(parameters) || !carries(parameters, plan)) {
				this.unadvertised.set(name, "pi does not show the schema that was changed");
			}
		}
	}
}

function objectOf(value: unknown): any {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
