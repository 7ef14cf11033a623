/** A call's arguments: what the engine is sent of them, and what the tool gets. */
import { createHash } from "node:crypto";
import type { Plan } from "./schema.ts";

/** Characters from which a text that no rule reads is sent as its length and digest. */
const LONG = 1_024;

/** A text that was left out: where, how many UTF-16 units it has, and the SHA-256 of its UTF-8. */
export interface Omitted {
	at: (string | number)[];
	length: number;
	sha256: string;
}

/** The arguments without long texts that no rule reads, and what was left out. */
export function brief(input: unknown, plan: Plan | undefined): { args: unknown; omitted: Omitted[] } {
	const omitted: Omitted[] = [];
	if (!plan?.reads || typeof input !== "object" || input === null || Array.isArray(input)) {
		return { args: input, omitted };
	}
	const read = new Set([...plan.reads, ...plan.fields]);
	const args = new Map<string, unknown>();
	for (const key of Object.keys(input)) {
		const value = (input as Record<string, unknown>)[key];
		args.set(key, read.has(key) ? value : shortened(value, [key], new Set(plan.fields), omitted));
	}
	if (omitted.length === 0) return { args: input, omitted };
	// Not `{}[key] = …`: a member called `__proto__` would be lost, and with it what the judge must see.
	return { args: Object.fromEntries(args), omitted };
}

function shortened(value: unknown, at: (string | number)[], fields: Set<string>, omitted: Omitted[]): unknown {
	if (typeof value === "string") {
		// Half of a surrogate pair is for the engine to see and refuse.
		if (value.length < LONG || !value.isWellFormed()) return value;
		const sha256 = createHash("sha256").update(value, "utf8").digest("hex");
		omitted.push({ at, length: value.length, sha256 });
		return "";
	}
	if (Array.isArray(value)) return value.map((one, index) => shortened(one, [...at, index], fields, omitted));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.keys(value).map((key) => {
			const member = (value as Record<string, unknown>)[key];
			return [key, fields.has(key) ? member : shortened(member, [...at, key], fields, omitted)];
		}),
	);
}

/**
 * Delete fields from the host's own object, at these paths and nowhere else, then freeze it: what
 * was judged is what runs, whatever handlers come after. Throws where a path leads nowhere.
 */
export function strip(input: object, paths: (string | number)[][]): void {
	for (const path of paths) {
		let holder: any = input;
		for (const step of path.slice(0, -1)) {
			if (!Object.hasOwn(holder, step)) throw new Error("the arguments are not those that were judged");
			holder = holder[step];
		}
		const name = path[path.length - 1];
		if (!Object.hasOwn(holder, name)) throw new Error("the arguments are not those that were judged");
		delete holder[name];
		if (Object.hasOwn(holder, name)) throw new Error("a field could not be taken out of the arguments");
	}
	freeze(input);
}

function freeze(value: unknown): void {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
	Object.freeze(value);
	for (const member of Object.values(value)) freeze(member);
}
