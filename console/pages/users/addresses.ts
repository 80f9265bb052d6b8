// Addresses of users' pages.
import { inRealm } from '../../shell/addresses.ts';

export const usersAddress = (realm: string): string => inRealm(realm, 'users');
export const userAddress = (realm: string, userId: string): string => inRealm(realm, 'users', userId);
