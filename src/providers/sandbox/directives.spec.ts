import { TASK_ERRORS, type TaskErrorCode } from '../../tasks/record/task-error.ts';
import { parseDirectives } from './directives.ts';

describe('parseDirectives', () => {
  it('leaves a prompt without directives as it is', () => {
    expect(parseDirectives('a red fox')).toEqual({ text: 'a red fox', delaySeconds: 0, hang: false, fail: null });
  });

  it.each(Object.keys(TASK_ERRORS) as TaskErrorCode[])('reads #fail:%s', (code) => {
    expect(parseDirectives(`a fox #fail:${code}`)).toMatchObject({ text: 'a fox', fail: code });
  });

  it('combines a fractional delay and a failure, anywhere in the prompt', () => {
    expect(parseDirectives('#delay:1.5 a #fail:provider_timeout fox')).toEqual({
      text: 'a fox',
      delaySeconds: 1.5,
      hang: false,
      fail: 'provider_timeout',
    });
  });

  it('reads #hang on a line of its own', () => {
    expect(parseDirectives('a fox\n#hang')).toMatchObject({ text: 'a fox', hang: true });
  });

  it('fails with internal_error for an unknown code, including names of Object.prototype', () => {
    expect(parseDirectives('#fail:no_such_code').fail).toBe('internal_error');
    expect(parseDirectives('#fail:constructor').fail).toBe('internal_error');
  });

  it('waits an hour at most', () => {
    expect(parseDirectives('#delay:99999').delaySeconds).toBe(3600);
  });

  it.each(['#delay:soon a fox', 'a fox #hanging', 'issue#hang', '#fail: a fox', '#delay:-1'])(
    'treats %j as part of the prompt',
    (prompt) => {
      expect(parseDirectives(prompt)).toEqual({ text: prompt, delaySeconds: 0, hang: false, fail: null });
    },
  );
});
