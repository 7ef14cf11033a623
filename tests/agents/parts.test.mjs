/** The parts of the extension that stand alone, run by node's own test runner. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

const at = new URL("../../engine/tool_intent/surfaces/pi/extension/", import.meta.url);
const { asSent, brief, repaired, strip } = await import(new URL("arguments.ts", at).href);
const { advertise, carries, original } = await import(new URL("schema.ts", at).href);
const { complaints, plain, theirs, withComplaints } = await import(new URL("text.ts", at).href);

const field = { type: "string", minLength: 1 };
const plan = (more) => ({
	name: "write", places: [{ at: [], properties: [["intent", field, true]], own: [] }], schema: null,
	notAdvertised: [], fields: ["intent"], reads: [], ...more,
});
const long = "é".repeat(2_000);

test("a long text that no rule reads is sent as its length and digest", () => {
	const input = { path: "a", content: long, intent: long, edits: [{ newText: long, intent: long }] };
	const { args, omitted } = brief(input, plan());
	assert.deepEqual(args, { path: "a", content: "", intent: long, edits: [{ newText: "", intent: long }] });
	const sha256 = createHash("sha256").update(long).digest("hex");
	assert.deepEqual(omitted, [
		{ at: ["content"], length: 2_000, sha256 },
		{ at: ["edits", 0, "newText"], length: 2_000, sha256 },
	]);
	assert.equal(input.content, long, "the host's own arguments stay");
});

test("what a rule may read is sent whole, and so is everything where that is not known", () => {
	const input = { content: long };
	for (const known of [plan({ reads: ["content"] }), plan({ reads: null }), undefined]) {
		assert.deepEqual(brief(input, known), { args: input, omitted: [] });
	}
});

test("half of a surrogate pair is sent, for the engine to refuse", () => {
	const content = `${long}\ud800`;
	assert.equal(brief({ content }, plan()).args.content, content);
});

test("a member called __proto__ is not lost on the way", () => {
	const input = JSON.parse(`{"__proto__": {"command": "rm"}, "content": "${"x".repeat(2_000)}"}`);
	assert.match(JSON.stringify(brief(input, plan()).args), /"__proto__":\{"command":"rm"\}/);
});

test("fields are taken out where they are, and the rest is frozen to its depth", () => {
	const input = { path: "a", intent: "b", edits: [{ intent: "c", deep: { intent: "kept" } }] };
	strip(input, [["intent"], ["edits", 0, "intent"]]);
	assert.deepEqual(input, { path: "a", edits: [{ deep: { intent: "kept" } }] });
	assert.throws(() => (input.edits[0].deep.intent = "changed"), TypeError);
});

test("nothing is taken out of another object than the one that was judged", () => {
	assert.throws(() => strip({ edits: [] }, [["edits", 0, "intent"]]), /not those that were judged/);
	assert.throws(() => strip(Object.create({ intent: "inherited" }), [["intent"]]), /not those/);
});

test("a field is judged as the model sent it, where the host made a text of it", () => {
	const input = { path: "5", intent: "null" };
	assert.deepEqual(asSent(input, { path: 5, intent: null }, plan()), { path: "5", intent: null });
	assert.equal(asSent(input, { path: 5, intent: "null" }, plan()), input);
	const edits = plan({ places: [{ at: ["edits", "[]"], properties: [["intent", field, true]], own: [] }] });
	const sent = repaired({ edits: '[{"intent": 5}]' }, edits);
	assert.deepEqual(asSent({ edits: [{ intent: "5" }] }, sent, edits), { edits: [{ intent: 5 }] });
});

test("a schema is changed in place, changed again, and never twice", () => {
	const schema = { type: "object", required: ["path"], properties: { path: { type: "string" } } };
	const before = structuredClone(schema);
	const wanted = { type: "object", required: ["intent", "path"], properties: { intent: field, path: { type: "string" } } };
	const known = plan({ schema: wanted });
	assert.equal(advertise(schema, known), undefined);
	assert.deepEqual(Object.keys(schema.properties), ["intent", "path"]);
	assert.deepEqual(original(schema), before);
	assert.ok(carries(schema, known), "asking for the original changes nothing");
	assert.equal(advertise(schema, known), undefined);
	assert.deepEqual(schema, wanted);
	assert.equal(advertise(schema, plan({ places: [], schema: before })), undefined);
	assert.deepEqual(schema, before, "a policy that asks for nothing takes its fields back");
});

test("an argument of the tool that holds the reason is required, once, and nothing else changes", () => {
	const own = { type: "string" };
	const schema = { type: "object", properties: { intent: own } };
	const places = [{ at: [], properties: [], own: ["intent"] }];
	const wanted = { type: "object", properties: { intent: own }, required: ["intent"] };
	assert.equal(advertise(schema, plan({ places, schema: wanted })), undefined);
	assert.equal(advertise({ ...wanted }, plan({ places, schema: wanted })), undefined);
});

test("a schema that cannot be changed, or comes out otherwise, is said to be so", () => {
	assert.match(advertise(Object.freeze({ properties: {} }), plan()), /cannot be changed/);
	assert.match(advertise({ properties: {} }, plan({ schema: { other: true } })), /did not come out/);
});

test("pi's own complaints are taken apart, ours left to the engine, the echo dropped", () => {
	const old = 'Validation failed for tool "edit":\n  - intent: must have required properties intent, path\n\nReceived arguments:\n{"a": 1}';
	assert.deepEqual(theirs(complaints(old), ["intent"]), ["path: missing"]);
	const now = 'Validation failed for tool "edit":\n  - edits.0.intent: missing\n  - path: missing\n\nReceived arguments:\n{}';
	assert.deepEqual(theirs(complaints(now), ["intent"]), ["path: missing"]);
	assert.equal(complaints("a tool's own words"), undefined);
	assert.equal(withComplaints("denied\n- one\nSend it again.", ["two"]), "denied\n- one\n- two\nSend it again.");
});

test("what is shown to a person holds nothing that a terminal would obey", () => {
	assert.equal(plain("a\u001b[2Jb\n\u202ec"), "a\\u{1b}[2Jb \\u{202e}c");
	assert.equal(plain("x".repeat(400), 10), "xxxxxxxxx…");
});
