internal import Octets
public import Foundation

/// A person's sign-in at a provider, for one requestor on this device.
public struct Session: Sendable, Hashable {
    /// Where a session came from (client-sdk §2.1, T).
    public enum Source: String, Sendable, Hashable, Codable {
        /// A login, with the password or by an Automatic Sign-In value.
        case regular
        /// The platform's single sign-on.
        case apple
        /// A trial without an account.
        case tempPass
        /// Made by the server without the provider, which is out of order.
        case degraded
    }

    public let requestor: Requestor.ID
    public let provider: Provider.ID
    public let source: Source
    /// When it ends, by the server's clock.
    public let expires: Date
    /// The person's scrambled id. Over version 1 of the API it is that of the media token (`sessionGUID`). Version 2 does not tell it: there it is
    /// the library's own.
    public let userID: String

    /// - Parameters:
    ///   - requestor: The requestor that the session is for.
    ///   - provider: The provider at which the person is signed in.
    ///   - source: Where the session came from.
    ///   - expires: By the server's clock.
    ///   - userID: The person's scrambled id.
    public init(requestor: Requestor.ID, provider: Provider.ID, source: Source, expires: Date, userID: String) {
        self.requestor = requestor
        self.provider = provider
        self.source = source
        self.expires = expires
        self.userID = userID
    }
}

/// The result of a check of the session (client-sdk §2.3).
public enum AuthenticationState: Sendable, Hashable {
    case authenticated(Session)
    /// - Parameter reason: The advanced code that says why.
    case notAuthenticated(reason: StatusCode)
}

/// The result of a sign-out.
public struct SignOutResult: Sendable, Hashable {
    /// True: the platform would sign the person in again at the next launch, until they sign out in its settings (VSA203).
    public let mustSignOutInSettings: Bool

    public init(mustSignOutInSettings: Bool) { self.mustSignOutInSettings = mustSignOutInSettings }
}
