import {
  getFromContainer,
  getMetadataStorage,
  type ValidationError,
  type ValidatorConstraintInterface,
} from 'class-validator';

/**
 * Finds the first item of a list that breaks an `each: true` rule. class-validator does not report it, so this runs the
 * rule again, item by item. It takes the rule from class-validator's metadata storage and container: both are exported,
 * but the fields of the metadata are not documented. The tests of input errors pin them (class-validator 0.15).
 * @returns null if the rule applies to the list as a whole
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
