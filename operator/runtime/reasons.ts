// Every reason that the operator can write into a condition or an event. A reason outside these lists doesn't compile. A test
// checks that docs/troubleshooting.md explains each. Decisions "Custom resources".

/** Reasons of conditions. */
export const conditionReasons = [
  'Applied',
  'Reported',
  'Observed',
  'DriftFound',
  'Suspended',
  // for Ready, while the condition Reconciling has the dependency as its reason
  'Waiting',
  // a dependency doesn't exist yet
  'SecretMissing',
  'ConfigMapMissing',
  'RealmMissing',
  'FlowMissing',
  'RealmNotDeclared',
  'ServerUnreachable',
  'SignInRefused',
  'ServerUnknown',
  // an object of the realm needs one that should be removed
  'InUse',
  // the server is still removing the data of a deleted realm with this name
  'BeingDeleted',
  // an administrator's hold keeps an object as it is
  'Held',
  // the resource is tried again
  'ServerUnavailable',
  'Changed',
  'Error',
  // a person must act
  'Invalid',
  'Refused',
  'Forbidden',
  'NotFound',
  'TooLarge',
  'Conflict',
  'ForceNotAllowed',
  'AdoptionNotAllowed',
  'GuestFlow',
  'SecretTaken',
  'SecretForbidden',
  'NamespaceNotAllowed',
  'RealmProtected',
  'RealmExists',
  'RealmTaken',
  'AdminRoles',
  'AdminClient',
  // for Ready with status True: a declared setting has no effect
  'Incomplete',
] as const;
export type Reason = (typeof conditionReasons)[number];

/** Reasons of events only: the operator's actions. An event about a problem has the reason of its condition. */
export const eventReasons = [
  'LocksOut',
  'Repaired',
  'SecretRotated',
  'SecretRemoved',
  'TookOver',
  'Released',
  'Abandoned',
] as const;
export type EventReason = Reason | (typeof eventReasons)[number];
