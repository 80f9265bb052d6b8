// What an error says, whatever was thrown: for logs, conditions and terminals of every program.

export const errorWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));
