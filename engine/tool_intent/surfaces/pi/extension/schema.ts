/**
 * The fields of a policy in a tool's own schema, put there in place: pi shows the model, and
 * validates by, the very object that an extension can reach.
 */
import { isDeepStrictEqual } from "node:util";

type Schema = Record<string, any>;

/** What one kind of place is to advertise: `[field, schema, required]` each; own arguments required. */
export interface Place {
	at: string[];
	properties: [string, Schema, boolean][];
	own: string[];
}

/** What the engine wants of one tool; see `Plan` in `surfaces/judging.py`. */
export interface Plan {
	name: string;
	places: Place[];
	schema: unknown;
	notAdvertised: [string, string][];
	fields: string[];
	reads: string[] | null;
}

/** The members that nodes had before they were touched. */
type Originals = Map<Schema, Schema>;

/**
 * Built-in schemas outlive this module: after /reload they still hold what the module before put
 * there. What they were is kept where the next one finds it.
 */
const KEY = Symbol.for("tool-intent.pi.schemas");
const touched: WeakMap<object, Originals> = ((globalThis as any)[KEY] ??= new WeakMap());

/** The schema as its tool made it, as plain JSON; the live one stays as it is. */
export function original(schema: Schema): unknown {
	const originals = touched.get(schema) ?? new Map();
	const changed = [...originals.keys()].map((node): [Schema, Schema] => [node, { ...node }]);
	for (const [node, members] of originals) become(node, members);
	const plain = JSON.parse(JSON.stringify(schema));
	for (const [node, members] of changed) become(node, members);
	return plain;
}

/** Put the plan's fields into the live schema; the reason why that failed, or undefined. */
export function advertise(schema: Schema, plan: Plan): string | undefined {
	restore(schema);
	const originals: Originals = new Map();
	touched.set(schema, originals);
	try {
		for (const place of plan.places) {
			const node = reached(schema, place.at, originals);
			keep(node, originals);
			const fields = Object.fromEntries(place.properties.map(([name, field]) => [name, field]));
			// Fields first: a model that states its reason first acts on it.
			node.properties = { ...fields, ...node.properties };
			const demanded = place.properties.filter(([, , required]) => required).map(([name]) => name);
			demanded.push(...place.own.filter((name) => !node.required?.includes(name)));
			if (demanded.length > 0) node.required = [...demanded, ...(node.required ?? [])];
		}
	} catch (error) {
		restore(schema);
		return `its schema cannot be changed (${(error as Error).message})`;
	}
	return carries(schema, plan) ? undefined : "its schema did not come out as intended";
}

/** Whether a live schema is what the plan says it should be. */
export function carries(schema: Schema, plan: Plan): boolean {
	return isDeepStrictEqual(JSON.parse(JSON.stringify(schema)), plan.schema);
}

function restore(schema: Schema): void {
	for (const [node, members] of touched.get(schema) ?? []) become(node, members);
	touched.delete(schema);
}

function become(node: Schema, members: Schema): void {
	for (const key of Object.keys(node)) delete node[key];
	Object.assign(node, members);
}

function keep(node: Schema, originals: Originals): void {
	if (!Object.isExtensible(node)) throw new Error("it is frozen");
	if (!originals.has(node)) originals.set(node, { ...node });
}

/** The node at a place; a reference on the way is replaced by what it names. */
function reached(schema: Schema, at: string[], originals: Originals): Schema {
	let node = followed(schema, schema, originals);
	for (const step of at) {
		const below = step === "[]" ? node.items : own(node.properties, step);
		if (typeof below !== "object" || below === null) throw new Error(`there is no ${step} in it`);
		node = followed(below, schema, originals);
	}
	return node;
}

function followed(node: Schema, root: Schema, originals: Originals): Schema {
	for (let round = 0; Object.hasOwn(node, "$ref") && round < 16; round += 1) {
		keep(node, originals);
		const { $ref, ...beside } = node;
		let target: any = root;
		for (const token of String($ref).slice(1).split("/").slice(1)) {
			target = own(target, decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~"));
		}
		become(node, { ...structuredClone(target), ...beside });
	}
	return node;
}

function own(holder: any, name: string): any {
	return holder && Object.hasOwn(holder, name) ? holder[name] : undefined;
}
