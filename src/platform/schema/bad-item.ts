import {
  getFromContainer,
  getMetadataStorage,
  type ValidationError,
  type ValidatorConstraintInterface,
} from 'class-validator';

/**
 * Which entry of a list breaks an `each: true` rule. class-validator does not say, so the rule is asked again, entry by
 * entry.
 * @returns null when the rule is about the list as a whole
 */
export function firstBadItem(error: ValidationError, rule: string): number | null {
  if (!Array.isArray(error.value) || error.target === undefined) return null;
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(error.target.constructor, '', false, false);
  const broken = rules.find(({ propertyName, name, each }) => each && propertyName === error.property && name === rule);
  if (broken === undefined) return null;
  const [constraint] = storage.getTargetValidatorConstraints(broken.constraintCls);
  const validator = getFromContainer<ValidatorConstraintInterface>(
    constraint.target as new () => ValidatorConstraintInterface,
  );
  const { property, target } = error;
  const args = { constraints: broken.constraints ?? [], property, targetName: target.constructor.name, object: target };
  const index = error.value.findIndex((value: unknown) => validator.validate(value, { ...args, value }) !== true);
  return index === -1 ? null : index;
}
