/** A call's arguments: what the engine is sent of them, and what the tool gets. */
import { createHash } from "node:crypto";
import type { Plan } from "./schema.ts";

/** Characters from which a text that no rule reads is sent as its length and digest. */
const LONG = 1_024;

/** A text that was left out: where, how many UTF-16 units it has, and the SHA-256 of its UTF-8. */
export interface Omitted {
	at: Path;
	length: number;
	sha256: string;
}

type Path = (string | number)[];

/** The objects at a kind of place, each with its path. */
export function objectsAt(args: unknown, at: string[]): [Path, Record<string, unknown>][] {
	let found: [Path, unknown][] = [[[], args]];
	for (const step of at) {
		found = found.flatMap(([path, value]): [Path, unknown][] => {
			if (step === "[]") return Array.isArray(value) ? value.map((one, n) => [[...path, n], one]) : [];
			return isObject(value) && Object.hasOwn(value, step) ? [[[...path, step], value[step]]] : [];
		});
	}
	return found.filter((one): one is [Path, Record<string, unknown>] => isObject(one[1]));
}

/**
 * The arguments with fields as the model sent them where pi made texts of other values: pi 1.x makes
 * "null" of null. Fields are taken out again, so what runs stays what pi made of the rest.
 */
export function asSent(input: unknown, sent: unknown, plan: Plan | undefined): unknown {
	const changes: [Path, unknown][] = [];
	for (const { at, properties } of plan?.places ?? []) {
		const before = new Map(objectsAt(sent, at).map(([path, place]) => [path.join("/"), place]));
		for (const [path, place] of objectsAt(input, at)) {
			const was = before.get(path.join("/"));
			for (const [name] of properties) {
				if (!was || !Object.hasOwn(was, name) || !Object.hasOwn(place, name)) continue;
				if (was[name] === null || typeof was[name] !== typeof place[name]) changes.push([[...path, name], was[name]]);
			}
		}
	}
	if (changes.length === 0) return input;
	const copy = structuredClone(input);
	for (const [path, value] of changes) {
		const holder = path.slice(0, -1).reduce((one: any, step) => one[step], copy);
		holder[path[path.length - 1]] = value;
	}
	return copy;
}

/** A copy of arguments in which lists are lists that a model sent as JSON text, as pi takes them. */
export function repaired(sent: unknown, plan: Plan | undefined): unknown {
	if (!isObject(sent)) return sent ?? {};
	const copy = Object.fromEntries(Object.entries(sent));
	for (const { at } of plan?.places ?? []) {
		const value = at[1] === "[]" && Object.hasOwn(copy, at[0]) ? copy[at[0]] : undefined;
		if (typeof value !== "string") continue;
		try {
			copy[at[0]] = JSON.parse(value);
		} catch {
			// It is what it is.
		}
	}
	return copy;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The arguments without long texts that no rule reads, and what was left out. */
export function brief(input: unknown, plan: Plan | undefined): { args: unknown; omitted: Omitted[] } {
	const omitted: Omitted[] = [];
	if (!plan?.reads || !isObject(input)) return { args: input, omitted };
	const read = new Set([...plan.reads, ...plan.fields]);
	const args = new Map<string, unknown>();
	for (const key of Object.keys(input)) {
		args.set(key, read.has(key) ? input[key] : shortened(input[key], [key], new Set(plan.fields), omitted));
	}
	if (omitted.length === 0) return { args: input, omitted };
	// Not `{}[key] = …`: a member called `__proto__` would be lost, and with it what the judge must see.
	return { args: Object.fromEntries(args), omitted };
}

function shortened(value: unknown, at: Path, fields: Set<string>, omitted: Omitted[]): unknown {
	if (typeof value === "string") {
		// Half of a surrogate pair is for the engine to see and refuse.
		if (value.length < LONG || !value.isWellFormed()) return value;
		const sha256 = createHash("sha256").update(value, "utf8").digest("hex");
		omitted.push({ at, length: value.length, sha256 });
		return "";
	}
	if (Array.isArray(value)) return value.map((one, index) => shortened(one, [...at, index], fields, omitted));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.keys(value).map((key) => {
			return [key, fields.has(key) ? value[key] : shortened(value[key], [...at, key], fields, omitted)];
		}),
	);
}

/**
 * Delete fields from the host's own object, at these paths and nowhere else, then freeze it: what
 * was judged is what runs, whatever handlers come after. Throws where a path leads nowhere.
 */
export function strip(input: object, paths: Path[]): void {
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
