/** What a client tells its model of this server. At most 1,000 characters. */
export const INSTRUCTIONS = [
  'Darkroom makes images and videos from prompts. Each creation is a task that goes on until it ends, also when you stop waiting.',
  'Call generate_image or generate_video; the answer is the finished task with links, or the unfinished task with its id.',
  'For an unfinished task call get_task with its id; never create it again, because each creation costs.',
  'An error names the argument and what is allowed: correct it and call again.',
  'To edit an image, give the id of a file of an earlier task (file_…) or an https link in reference_images.',
  'To vary a finished task, call retry_task with another prompt. Links expire after a while; get_task gives new ones.',
  'list_models says what each model takes. Show the user the links, because previews are small.',
].join(' ');
