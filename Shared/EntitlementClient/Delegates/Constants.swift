// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those that apps were written with (client-sdk §1.1).

/// Status of a callback: it worked.
package let ACCESS_ENABLER_STATUS_SUCCESS: Int32 = 1
/// Status of a callback: it did not work.
package let ACCESS_ENABLER_STATUS_ERROR: Int32 = 0

/// Code of `setAuthenticationStatus`: signed in.
package let USER_AUTHENTICATED = ""
/// Code of `setAuthenticationStatus` and `tokenRequestFailed`: nobody is signed in.
package let USER_NOT_AUTHENTICATED_ERROR = "USER_NOT_AUTHENTICATED_ERROR"
/// Code of `setAuthenticationStatus`: the person gave up.
package let PROVIDER_NOT_SELECTED_ERROR = "PROVIDER_NOT_SELECTED_ERROR"
/// Code of `setAuthenticationStatus`: the sign-in failed.
package let GENERIC_AUTHENTICATION_ERROR = "GENERIC_AUTHENTICATION_ERROR"
/// Code of `tokenRequestFailed`: the provider does not permit it.
package let USER_NOT_AUTHORIZED_ERROR = "USER_NOT_AUTHORIZED_ERROR"
/// Code of `tokenRequestFailed`: the request cannot be made.
package let GENERIC_AUTHORIZATION_ERROR = "GENERIC_AUTHORIZATION_ERROR"
/// Code of `tokenRequestFailed`: something failed on the way.
package let INTERNAL_AUTHORIZATION_ERROR = "INTERNAL_AUTHORIZATION_ERROR"

/// Where login and logout end, unless the app has a scheme of its own.
package let ADOBEPASS_REDIRECT_URL = "adobepass://ios.app"

/// Event of `sendTrackingData`: a sign-in or a check of one.
package let TRACKING_AUTHENTICATION: Int32 = 0
/// Event of `sendTrackingData`: an authorization.
package let TRACKING_AUTHORIZATION: Int32 = 1
/// Event of `sendTrackingData`: a provider was chosen.
package let TRACKING_GET_SELECTED_PROVIDER: Int32 = 2

/// Key of `getMetadata`'s dictionary: what is asked.
package let METADATA_OPCODE_KEY = "METADATA_OPCODE_KEY"
/// Key of `getMetadata`'s dictionary: the resource.
package let METADATA_RESOURCE_ID_KEY = "METADATA_RESOURCE_ID_KEY"
/// Key of `getMetadata`'s dictionary: which fact of the person.
package let METADATA_USER_META_KEY = "user_metadata_name"
/// Asks when the session ends.
package let METADATA_AUTHENTICATION: Int32 = 0
/// Asks when a permission ends.
package let METADATA_AUTHORIZATION: Int32 = 1
/// Asks for the device's id.
package let METADATA_DEVICE_ID: Int32 = 2
/// Asks for a fact of the person.
package let METADATA_USER_META: Int32 = 3

/// Key of `getAuthentication`'s filter: the providers of the platform's picker.
package let TV_PROVIDERS = "TV_PROVIDERS"
/// Key of `getAuthentication`'s filter: those that the picker shows first.
package let FEATURED_TV_PROVIDERS = "FEATURED_TV_PROVIDERS"
