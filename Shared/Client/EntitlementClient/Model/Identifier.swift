public import Foundation
internal import Octets

/// An id with the kind of its subject, so that two kinds of ids cannot be mixed up.
public struct Identifier<Subject>: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The id as the server writes it; letter case counts.
    public let rawValue: String

    /// Takes any text: only the server knows whether the id exists.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ text: String) { rawValue = text }
    public init(stringLiteral value: String) { rawValue = value }

    public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public var description: String { rawValue }
}

/// A channel or brand (service provider) for which people sign in.
public enum Requestor {
    /// For example `ACME1`.
    public typealias ID = Identifier<Requestor>
}

/// Something that a person may be permitted to watch.
public enum Resource {
    /// A channel's name, or a text in Media RSS (rest-v1 §1).
    public typealias ID = Identifier<Resource>
}

/// Values that are sent with each call and may change at any time (client-sdk §1.3, `setOptions`).
public struct ClientOptions: Sendable, Hashable {
    /// Which of the app's profiles is in use, for the server's statistics; version 1 of the API only.
    public var applicationProfile: String?
    /// The visitor's id in the app's analytics (`ap_vi`, `AP-Visitor-Identifier`).
    public var visitorID: String?
    /// The app presents Safari's view controller itself when a provider requires it.
    public var handlesSafariViewController: Bool
    /// Base64 of a JSON object (rest-v1 §2.4). It replaces the library's own description of the device.
    public var deviceInformation: String?

    /// - Parameters:
    ///   - applicationProfile: `nil`: none is sent.
    ///   - visitorID: `nil`: none is sent.
    ///   - handlesSafariViewController: True when the app presents Safari's view controller itself.
    ///   - deviceInformation: Base64 of a JSON object (rest-v1 §2.4); `nil`: the library describes the device.
    public init(
        applicationProfile: String? = nil, visitorID: String? = nil, handlesSafariViewController: Bool = false, deviceInformation: String? = nil
    ) {
        self.applicationProfile = applicationProfile
        self.visitorID = visitorID
        self.handlesSafariViewController = handlesSafariViewController
        self.deviceInformation = deviceInformation
    }
}

/// A signed proof, good for one play, that this person may watch this resource (rest-v1 §7). The library never stores it.
public struct MediaToken: Sendable, Hashable, CustomStringConvertible {
    /// The text that the player's backend verifies.
    public let serialized: String
    public let resource: Resource.ID
    public let provider: Provider.ID
    /// The person's scrambled id.
    public let userID: String
    /// When it ends, by the server's clock; `nil` when the server did not say.
    public let expires: Date?

    /// - Parameters:
    ///   - serialized: The token as the server sent it.
    ///   - resource: The resource that it permits.
    ///   - provider: The provider at which the person is signed in.
    ///   - userID: The person's scrambled id.
    ///   - expires: By the server's clock; `nil` when the server did not say.
    public init(serialized: String, resource: Resource.ID, provider: Provider.ID, userID: String, expires: Date?) {
        self.serialized = serialized
        self.resource = resource
        self.provider = provider
        self.userID = userID
        self.expires = expires
    }

    /// Does not contain the token itself.
    public var description: String { "media token for \(resource)" }
}
