public import Foundation
internal import Octets

/// A TV provider (MVPD) as the requestor's configuration names it (rest-v1 §3.3).
public struct Provider: Sendable, Hashable, Identifiable {
    /// For example `NorthCable`.
    public typealias ID = Identifier<Provider>

    /// The platform's own sign-in goes this far with a provider.
    public enum BoardingStatus: String, Sendable, Hashable, Codable {
        /// The platform lists it; the person signs in the ordinary way.
        case picker = "PICKER"
        /// The platform signs the person in.
        case supported = "SUPPORTED"
    }

    public let id: ID
    /// The name to show.
    public var displayName: String
    /// Address of its logo.
    public var logoURL: URL?
    /// True when the requestor lets the platform sign people in at this provider.
    public var enablePlatformServices: Bool
    /// `nil`: the platform does not know it.
    public var boardingStatus: BoardingStatus?
    /// True when the platform's picker may list it.
    public var displayInPlatformPicker: Bool
    /// The platform's own name of it.
    public var platformMappingID: String?
    /// The fields that the platform must ask the provider for.
    public var requiredMetadataFields: [String]
    /// A trial without an account (rest-v1 §6.2).
    public var isTempPass: Bool
    /// Its login page works only in Safari's view controller (client-sdk §1.3).
    public var requiresSafariViewController: Bool

    /// Makes a provider without platform single sign-on; the other properties can be set.
    public init(id: ID, displayName: String) {
        self.id = id
        self.displayName = displayName
        enablePlatformServices = false
        displayInPlatformPicker = false
        requiredMetadataFields = []
        isTempPass = false
        requiresSafariViewController = false
    }
}

extension Provider {
    /// True when the platform's sign-in is switched on for it, at least as an entry of the picker (client-sdk §2.1: otherwise `ssoOff`).
    public var takesPartInPlatformSignIn: Bool { enablePlatformServices && boardingStatus != nil && platformMappingID != nil }
}

/// Which providers the platform's picker lists, in which order (client-sdk §1.3, `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`).
public struct ProviderFilter: Sendable, Hashable {
    /// All that are listed. Providers without single sign-on are left out.
    public var providers: [Provider.ID]
    /// Those that are shown first. Providers that are not in `providers` are left out.
    public var featured: [Provider.ID]

    public init(providers: [Provider.ID], featured: [Provider.ID] = []) {
        (self.providers, self.featured) = (providers, featured)
    }
}

/// A short code that a person types on a second screen (rest-v1 §3.4).
public struct RegistrationCode: Sendable, Hashable {
    /// Seven letters and digits, without those that look alike.
    public let code: String
    /// The provider that was chosen before.
    public let provider: Provider.ID
    /// When it ends, by the server's clock.
    public let expires: Date
    /// It is valid for this long, from when it was made.
    public let lifetime: Duration
    /// Where the person types it, if the server says so.
    public let loginAddress: URL?
    /// The login itself, where the server has an address for it.
    let loginPage: URL?

    /// - Parameters:
    ///   - code: Seven letters and digits.
    ///   - provider: The provider that was chosen before.
    ///   - expires: By the server's clock.
    ///   - lifetime: From when the code was made until it expires; independent of the device's clock.
    ///   - loginAddress: The page of the second screen; `nil` when the server did not say.
    public init(code: String, provider: Provider.ID, expires: Date, lifetime: Duration, loginAddress: URL? = nil) {
        self.init(code: code, provider: provider, expires: expires, lifetime: lifetime, loginAddress: loginAddress, loginPage: nil)
    }

    init(code: String, provider: Provider.ID, expires: Date, lifetime: Duration, loginAddress: URL? = nil, loginPage: URL?) {
        self.code = code
        self.provider = provider
        self.expires = expires
        self.lifetime = lifetime
        self.loginAddress = loginAddress
        self.loginPage = loginPage
    }

    /// The address with the code in it, as a QR code shows it: `<login address>?code=<code>`, or the login itself where the server names it.
    public var addressWithCode: URL? {
        guard let loginAddress else { return loginPage }
        guard var parts = URLComponents(url: loginAddress, resolvingAgainstBaseURL: false) else { return nil }
        parts.queryItems = (parts.queryItems ?? []).filter { $0.name != "code" } + [URLQueryItem(name: "code", value: code)]
        return parts.url
    }
}
