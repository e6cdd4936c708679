internal import Octets
internal import Foundation

/// The app's registration at a server (rest-v1 §4.1).
struct Registration: Codable, Sendable, Hashable {
    var softwareStatement: String
    var clientID: String
    var clientSecret: String
    var accessToken: String?
    /// By the device's clock; if the server's clock differs, it answers 401.
    var accessTokenExpires: Date?
}

/// A session as it is kept.
struct StoredToken: Codable, Sendable, Hashable {
    var requestor: Requestor.ID
    var provider: Provider.ID
    var source: Session.Source
    /// By the server's clock.
    var expires: Date
    var userID: String
    /// The device for which the server made it.
    var deviceID: String
    /// Made by redeeming an Automatic Sign-In value.
    var isAutomatic = false
    /// Who the person is, for a promotional trial: rest-v2 wants it with each call.
    var trialIdentity: String?
    /// The API whose session it is; `nil` is version 1, also in entries from before there were two.
    var api: RestVersion?

    var session: Session { Session(requestor: requestor, provider: provider, source: source, expires: expires, userID: userID) }
}

/// A permission as it is kept.
struct StoredPermission: Codable, Sendable, Hashable {
    var requestor: Requestor.ID
    var provider: Provider.ID
    var resource: Resource.ID
    /// By the server's clock.
    var expires: Date
}

/// The state that a sign-out clears.
struct SessionsRecord: Codable, Sendable, Hashable {
    var tokens: [OctetText: StoredToken] = [:]
    var permissions: [StoredPermission] = []

    var isEmpty: Bool { tokens.isEmpty && permissions.isEmpty }
}

/// The state that outlives a sign-out.
struct MarksRecord: Codable, Sendable, Hashable {
    /// Requestors for which the server could not be told of a sign-out.
    var dueSignOuts: Set<OctetText> = []
    /// The providers of those sessions, which rest-v2 wants to know; absent in older entries.
    var dueProviders: [OctetText: Provider.ID]?
    /// A person signed out by hand: an Automatic Sign-In value is left alone (client-sdk §2.7 S8).
    var signedOutByHand = false
    /// The opt-in that this device made.
    var autoSignInFamily: String?
}
