/** Texts for people and models, with nothing in them that a terminal would obey. */

/** A text on one line, control characters made visible, cut at `longest` characters. */
export function plain(text: unknown, longest = 300): string {
	const shown = String(text)
		.replace(/\s+/gu, " ")
		.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
		.trim();
	return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}

/** The refusal of a call that could not be judged. */
export function unjudged(tool: string, why: string): string {
	return [
		`tool-intent denied this ${plain(tool, 80)}; nothing was executed.`,
		`- It could not be judged: ${plain(why, 600)} (engine/unavailable).`,
		"Do not send it again: tell the user what is said above, and stop.",
	].join("\n");
}

const OPENING = /^Validation failed for tool /;
const ECHO = "\n\nReceived arguments:";

/** What pi's own check of the arguments says, line by line; undefined where this is none. */
export function complaints(text: string): string[] | undefined {
	if (!OPENING.test(text)) return undefined;
	const [said] = text.split(ECHO, 1);
	return said.split("\n").slice(1).map((line) => line.replace(/^\s*-\s*/, "").trim()).filter((line) => line !== "");
}

/** Whether a complaint is about one of our fields, which the engine words better. */
export function isOurs(complaint: string, fields: string[]): boolean {
	const [path, ...rest] = complaint.split(": ");
	const last = path.split(/[./]/).pop() ?? "";
	if (fields.includes(last)) return true;
	const named = /required propert(?:y|ies) (.*)$/.exec(rest.join(": "))?.[1];
	return named !== undefined && named.split(", ").every((name) => fields.includes(name));
}

/** A refusal's message with lines of pi's own check before its last one. */
export function withComplaints(message: string, lines: string[]): string {
	const all = message.split("\n");
	const last = all.pop()!;
	return [...all, ...lines.map((line) => `- ${plain(line)}`), last].join("\n");
}
