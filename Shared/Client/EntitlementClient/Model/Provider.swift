internal import Octets
public import Foundation

/// A TV provider (MVPD) as the requestor's configuration names it (rest-v1 §3.3).
public struct Provider: Sendable, Hashable, Identifiable {
    /// For example `NorthCable`.
    public typealias ID = Identifier<Provider>

    /// How far the platform's own sign-in goes with a provider.
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
