// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those that apps were written with (clients §5).
internal import Octets
internal import EntitlementClient

/// Status of a callback: it worked.
public let ACCESS_ENABLER_STATUS_SUCCESS = DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS
/// Status of a callback: it did not work.
public let ACCESS_ENABLER_STATUS_ERROR = DelegateConstants.ACCESS_ENABLER_STATUS_ERROR

/// Code of `setAuthenticationStatus`: signed in.
public let USER_AUTHENTICATED = DelegateConstants.USER_AUTHENTICATED
/// Code of `setAuthenticationStatus` and `tokenRequestFailed`: the device is not signed in.
public let USER_NOT_AUTHENTICATED_ERROR = DelegateConstants.USER_NOT_AUTHENTICATED_ERROR
/// Code of `setAuthenticationStatus`: the person cancelled.
public let PROVIDER_NOT_SELECTED_ERROR = DelegateConstants.PROVIDER_NOT_SELECTED_ERROR
/// Code of `setAuthenticationStatus`: the sign-in failed.
public let GENERIC_AUTHENTICATION_ERROR = DelegateConstants.GENERIC_AUTHENTICATION_ERROR
/// Code of `tokenRequestFailed`: the provider does not permit it.
public let USER_NOT_AUTHORIZED_ERROR = DelegateConstants.USER_NOT_AUTHORIZED_ERROR
/// Code of `tokenRequestFailed`: the request cannot be made.
public let GENERIC_AUTHORIZATION_ERROR = DelegateConstants.GENERIC_AUTHORIZATION_ERROR
/// Code of `tokenRequestFailed`: something failed on the way.
public let INTERNAL_AUTHORIZATION_ERROR = DelegateConstants.INTERNAL_AUTHORIZATION_ERROR

/// Where login and logout end, unless the app has a scheme of its own.
public let ADOBEPASS_REDIRECT_URL = DelegateConstants.ADOBEPASS_REDIRECT_URL

/// Event of `sendTrackingData`: a sign-in or a check of one.
public let TRACKING_AUTHENTICATION = DelegateConstants.TRACKING_AUTHENTICATION
/// Event of `sendTrackingData`: an authorization.
public let TRACKING_AUTHORIZATION = DelegateConstants.TRACKING_AUTHORIZATION
/// Event of `sendTrackingData`: a provider was chosen.
public let TRACKING_GET_SELECTED_PROVIDER = DelegateConstants.TRACKING_GET_SELECTED_PROVIDER

/// Key of `getMetadata`'s dictionary: what is asked.
public let METADATA_OPCODE_KEY = DelegateConstants.METADATA_OPCODE_KEY
/// Key of `getMetadata`'s dictionary: the resource.
public let METADATA_RESOURCE_ID_KEY = DelegateConstants.METADATA_RESOURCE_ID_KEY
/// Key of `getMetadata`'s dictionary: which user metadata key.
public let METADATA_USER_META_KEY = DelegateConstants.METADATA_USER_META_KEY
/// Asks when the session ends.
public let METADATA_AUTHENTICATION = DelegateConstants.METADATA_AUTHENTICATION
/// Asks when a permission ends.
public let METADATA_AUTHORIZATION = DelegateConstants.METADATA_AUTHORIZATION
/// Asks for the device's id.
public let METADATA_DEVICE_ID = DelegateConstants.METADATA_DEVICE_ID
/// Asks for a value of the user metadata.
public let METADATA_USER_META = DelegateConstants.METADATA_USER_META

/// Key of `getAuthentication`'s filter: the providers of the platform's picker.
public let TV_PROVIDERS = DelegateConstants.TV_PROVIDERS
/// Key of `getAuthentication`'s filter: those that the picker shows first.
public let FEATURED_TV_PROVIDERS = DelegateConstants.FEATURED_TV_PROVIDERS
