/** `/tool-intent`: what is enforced in this session, for the person who sits before it. */
import type { Session } from "./session.ts";
import { plain } from "./text.ts";

/** What the command says, a line each. */
export async function report(session: Session): Promise<string[]> {
	const { covered, others } = session.coverage;
	const lines: string[] = [];
	try {
		const state = await session.bridge.call("status", {});
		lines.push(...state.policies.map((digest: string, n: number) => `${n === 0 ? "policy" : "  now "} ${digest}`));
		for (const { file, rank } of state.sources) if (rank !== "shipped") lines.push(`  from ${plain(file)} (${rank})`);
		lines.push(...state.notes.map((note: string) => `note   ${plain(note, 600)}`));
	} catch (error) {
		lines.push(`every call is denied: ${plain((error as Error).message, 600)}`);
	}
	lines.push(`asked  ${covered.join(", ") || "of no tool"}`);
	lines.push(`free   ${others.join(", ") || "no tool"}`);
	for (const [tool, why] of session.unadvertised) lines.push(`not advertised, yet judged: ${plain(tool)} (${plain(why)})`);
	lines.push(session.refusals.length === 0 ? "no call was refused" : "last refusals:");
	for (const { at, tool, message } of session.refusals) {
		lines.push(`  ${at.toTimeString().slice(0, 8)} ${plain(tool, 60)}`);
		for (const line of message.split("\n").slice(1, -1)) lines.push(`    ${plain(line, 200)}`);
	}
	return lines;
}
