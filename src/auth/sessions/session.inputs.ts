import { ApiField } from '../../platform/schema/api-field.ts';

/** Exactly one of `api_key` and `code`. */
export class CreateSessionInput {
  @ApiField.string('the API key to sign in with', { optional: true, min: 1, max: 200 })
  api_key?: string;

  @ApiField.string('the code of a sign-in link, in place of a key; it works once', { optional: true, min: 1, max: 200 })
  code?: string;

  @ApiField.boolean(
    'true: the session survives the browser, and ends after 30 days without use. false or left out: 12 hours without use',
    { optional: true },
  )
  remember?: boolean;
}
