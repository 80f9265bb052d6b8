// Files that the browser saves, made of what a page has read.

export function saveFile(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // the browser has begun to save it by then
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
