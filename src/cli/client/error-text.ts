/** The message of an error response: the service's own `code: message`, or the status if something else answered. */
export async function errorText(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return `${error.code}: ${error.message}`;
  } catch {
    return `The service answered ${response.status}.`;
  }
}
