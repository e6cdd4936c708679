internal import Octets
public import Foundation

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
