// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Octets

/// The constants of the vendor's SDK, by the names that apps were written with (client-sdk §1.1). The module `AccessEnabler` gives them to apps.
package enum DelegateConstants {
    /// Status of a callback: it worked.
    package static let ACCESS_ENABLER_STATUS_SUCCESS: Int32 = 1
    /// Status of a callback: it did not work.
    package static let ACCESS_ENABLER_STATUS_ERROR: Int32 = 0

    /// Code of `setAuthenticationStatus`: signed in.
    package static let USER_AUTHENTICATED = ""
    /// Code of `setAuthenticationStatus` and `tokenRequestFailed`: the device is not signed in.
    package static let USER_NOT_AUTHENTICATED_ERROR = "USER_NOT_AUTHENTICATED_ERROR"
    /// Code of `setAuthenticationStatus`: the person cancelled.
    package static let PROVIDER_NOT_SELECTED_ERROR = "PROVIDER_NOT_SELECTED_ERROR"
    /// Code of `setAuthenticationStatus`: the sign-in failed.
    package static let GENERIC_AUTHENTICATION_ERROR = "GENERIC_AUTHENTICATION_ERROR"
    /// Code of `tokenRequestFailed`: the provider does not permit it.
    package static let USER_NOT_AUTHORIZED_ERROR = "USER_NOT_AUTHORIZED_ERROR"
    /// Code of `tokenRequestFailed`: the request cannot be made.
    package static let GENERIC_AUTHORIZATION_ERROR = "GENERIC_AUTHORIZATION_ERROR"
    /// Code of `tokenRequestFailed`: something failed on the way.
    package static let INTERNAL_AUTHORIZATION_ERROR = "INTERNAL_AUTHORIZATION_ERROR"

    /// Where login and logout end, unless the app has a scheme of its own.
    package static let ADOBEPASS_REDIRECT_URL = "adobepass://ios.app"

    /// Event of `sendTrackingData`: a sign-in or a check of one.
    package static let TRACKING_AUTHENTICATION: Int32 = 0
    /// Event of `sendTrackingData`: an authorization.
    package static let TRACKING_AUTHORIZATION: Int32 = 1
    /// Event of `sendTrackingData`: a provider was chosen.
    package static let TRACKING_GET_SELECTED_PROVIDER: Int32 = 2

    /// Key of `getMetadata`'s dictionary: what is asked.
    package static let METADATA_OPCODE_KEY = "METADATA_OPCODE_KEY"
    /// Key of `getMetadata`'s dictionary: the resource.
    package static let METADATA_RESOURCE_ID_KEY = "METADATA_RESOURCE_ID_KEY"
    /// Key of `getMetadata`'s dictionary: which user metadata key.
    package static let METADATA_USER_META_KEY = "user_metadata_name"
    /// Asks when the session ends.
    package static let METADATA_AUTHENTICATION: Int32 = 0
    /// Asks when a permission ends.
    package static let METADATA_AUTHORIZATION: Int32 = 1
    /// Asks for the device's id.
    package static let METADATA_DEVICE_ID: Int32 = 2
    /// Asks for a value of the user metadata.
    package static let METADATA_USER_META: Int32 = 3

    /// Key of `getAuthentication`'s filter: the providers of the platform's picker.
    package static let TV_PROVIDERS = "TV_PROVIDERS"
    /// Key of `getAuthentication`'s filter: those that the picker shows first.
    package static let FEATURED_TV_PROVIDERS = "FEATURED_TV_PROVIDERS"
}
