import { Args } from '@nestjs/graphql';

/** The GraphQL argument that names an endpoint. */
export const EndpointId = (name = 'id'): ParameterDecorator =>
  Args(name, { type: () => String, description: 'identifier of the endpoint' });
