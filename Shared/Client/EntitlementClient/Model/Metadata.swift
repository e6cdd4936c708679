internal import Octets

/// A value about the session that an app may read (client-sdk §1.3, `getMetadata`).
public enum MetadataKey: Sendable, Hashable {
    /// When the session ends.
    case authenticationExpiry
    /// When the permission for a resource ends.
    case authorizationExpiry(Resource.ID)
    /// The device's id; withheld unless ``ClientEnvironment/revealsDeviceID`` is set.
    case deviceID
    /// A value of the provider about the person, for example `zip`, `householdID`, `maxRating`, `userID`, `channelID`; also `tokenSource`.
    case user(String)
}

/// The value of a ``MetadataKey``.
public struct MetadataValue: Sendable, Hashable {
    /// `nil`: there is none. Times are milliseconds since 1970, in digits.
    public let value: JSONValue?
    /// True: the value can be read by the programmer's servers only (rest-v1 §8).
    public let isEncrypted: Bool

    /// - Parameters:
    ///   - value: `nil`: there is none.
    ///   - isEncrypted: True when only the programmer's servers can read the value.
    public init(_ value: JSONValue?, isEncrypted: Bool = false) { (self.value, self.isEncrypted) = (value, isEncrypted) }

    /// The value, if it is one text.
    public var text: String? { if case .string(let text) = value { text } else { nil } }
}
