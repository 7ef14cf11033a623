/** Texts for people and models, with nothing in them that a terminal would obey. */

/** A text on one line, control characters made visible, cut at `longest` characters. */
export function plain(text: unknown, longest = 300): string {
	const shown = String(text)
		.replace(/\s+/gu, " ")
		.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
		.trim();
	return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}

/** Characters of a message or result that the engine is told. */
const LONGEST_TOLD = 16_384;

/** The text of a message or result, whose content is a text or parts. */
export function textOf(content: unknown): string {
	const parts: any[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
	const texts = parts.filter((part) => part?.type === "text" && typeof part.text === "string");
	return texts.map((part) => part.text).join("\n").slice(0, LONGEST_TOLD);
}

/** The refusal of a call that could not be judged; `again` where the next one may be. */
export function unjudged(tool: string, why: string, again = false): string {
	return [
		`tool-intent denied this ${plain(tool, 80)}; nothing was executed.`,
		`- It could not be judged: ${plain(why, 600)} (engine/unavailable).`,
		again
			? "The engine is started anew: send the call once more."
			: "Do not send it again: tell the user what is said above, and stop.",
	].join("\n");
}

const OPENING = /^(?:Validation failed|Invalid arguments) for tool "[^"]*": ?/;
const UNREADABLE = "the arguments cannot be read: ";
const ECHO = "\n\nReceived arguments:";

/** What pi's own check of the arguments says, line by line; undefined where this is none. */
export function complaints(text: string): string[] | undefined {
	const opening = OPENING.exec(text)?.[0];
	if (opening === undefined) return undefined;
	const [said] = text.slice(opening.length).split(ECHO, 1);
	if (text.startsWith("Invalid")) return [UNREADABLE + said];
	return said.split("\n").map((line) => line.replace(/^\s*-\s*/, "").trim()).filter((line) => line !== "");
}

/** Whether the complaint is that there is no JSON, so that no field can be said to be missing. */
export function unreadable(complaints: string[]): boolean {
	return complaints[0]?.startsWith(UNREADABLE) ?? false;
}

/** The complaints that are not about our fields, which the engine words better. */
export function theirs(complaints: string[], fields: string[]): string[] {
	return complaints.flatMap((complaint) => {
		const colon = complaint.indexOf(": ");
		const steps = complaint.slice(0, colon).split(".");
		// pi 0.73 names the first that is missing as the place, and all of them in its words.
		const missing = /^must have required propert(?:y|ies) (.+)$/.exec(complaint.slice(colon + 2))?.[1];
		if (missing === undefined) return fields.includes(steps[steps.length - 1]) ? [] : [complaint];
		const above = steps.slice(0, -1);
		const names = missing.split(", ").filter((name) => !fields.includes(name));
		return names.map((name) => `${[...above, name].join(".")}: missing`);
	});
}

/** A refusal's message with lines of pi's own check before its last one. */
export function withComplaints(message: string, lines: string[]): string {
	const all = message.split("\n");
	const last = all.pop()!;
	return [...all, ...lines.map((line) => `- ${plain(line)}`), last].join("\n");
}
