internal import Foundation
internal import Octets

/// The library's calls to the servers; each version of their API says them in its own way (client-sdk §1.2).
///
/// All operations throw `ServerFailure`, or `CancellationError`.
protocol RestAPI: Sendable {
    /// The requestor's configuration; an answer of status 200 is `ServerAnswers.Configuration` (CFG).
    func configuration() async throws -> HTTPResponse

    /// Begins a login at a provider.
    /// - Parameters:
    ///   - data: Pairs for the server, as far as the API takes them.
    ///   - returnAddress: Where the page on this device ends; `nil`: the login happens on a second screen.
    /// - Returns: `nil` when the server gave no code.
    func beginLogin(at provider: Provider.ID, data: [String: String], returnAddress: String?) async throws -> LoginStart?

    /// Looks for a session at the server.
    func session(_ search: SessionSearch) async throws -> SessionAnswer

    /// Begins a trial.
    /// - Returns: False when the server refuses it.
    func beginTrial(at provider: Provider.ID, data: [String: String]) async throws -> Bool

    /// Asks the server to let the person in without the provider, which may be out of order.
    /// - Returns: True when there is a session now.
    func beginDegraded(at provider: Provider.ID, returnAddress: String) async throws -> Bool

    /// Begins a sign-in by the platform (PRQ).
    /// - Parameter account: The platform's account of the device's provider.
    func beginPlatformSignIn(at provider: Provider, _ account: AccountMetadata, returnAddress: String) async throws -> PlatformStart

    /// Exchanges the provider's signed answer, Base64 of ``PlatformAnswerText`` (EXC).
    /// - Returns: The session; `nil` when it has to be looked for.
    func exchange(_ response: String, at provider: Provider.ID, _ account: AccountMetadata) async throws -> StoredToken?

    /// Asks for the permission to play, and a media token (AUZ, MED). Keeps the permission.
    /// - Parameter isPermitted: There is a permission that has not ended.
    /// - Throws: `AuthorizationRefusal` too.
    func authorize(
        _ resource: Resource.ID, data: [String: String], _ session: ActiveSession, isPermitted: Bool
    ) async throws -> AuthorizationGrant

    /// PRE.
    func decisions(_ resources: [Resource.ID], avoidsCaches: Bool, _ session: ActiveSession) async throws -> PreauthorizationAnswer

    /// META.
    /// - Returns: `nil` when there are none.
    func userMetadata(_ session: ActiveSession) async throws -> UserMetadata?

    /// Signs out at the server (OUT), or says which page does it (OUTW).
    /// - Parameters:
    ///   - provider: At which the person was signed in; `nil` if that is not known.
    ///   - opensPages: True when the app can open a page, hidden.
    func signOut(of provider: Provider.ID?, opensPages: Bool, returnAddress: String) async throws -> SignOutAnswer
}

extension RestVersion {
    func api(_ context: ServerContext) -> any RestAPI {
        switch self {
        case .v1: RestV1(context: context)
        case .v2: RestV2(context: context)
        }
    }
}

/// Who asks whom: an app for a requestor on a device, and the server that answers.
struct ServerContext: Sendable {
    let link: ServerLink
    let options: ClientOptions
    let requestor: Requestor.ID
    /// The first of the requestor's domains; empty while the configuration is not known.
    var domain = ""
    let environment: ClientEnvironment
    let stateStore: StateStore

    var device: DeviceDescription { environment.device }

    func send(_ call: ServerCall) async throws -> HTTPResponse { try await link.send(call, options: options) }
}

/// A login begins in one of these ways.
enum LoginStart: Sendable {
    case login(PendingLogin)
    /// The server has a session for this device already.
    case alreadySignedIn
}

/// A login that a person has to do.
struct PendingLogin: Sendable {
    let code: RegistrationCode
    /// Leads to the provider's page, in a browser on this device.
    let page: URL?
}

/// Which session is looked for.
enum SessionSearch: Sendable {
    /// The one that a login made, or will make.
    case login(PendingLogin)
    /// The one at a provider.
    /// - Parameters:
    ///   - source: The kind of session, for an API that does not say it.
    ///   - account: The platform's account, for a session that came from it.
    case provider(Provider.ID, source: Session.Source, account: AccountMetadata? = nil)
    /// A trial.
    case trial(Provider.ID, data: [String: String])
    /// Any of this device.
    case any
}

/// The result of asking the servers for a session.
enum SessionAnswer: Sendable {
    case session(StoredToken)
    /// None, or an expired one.
    case none
    /// None, and there will be none: the login's code has ended.
    case over
    /// The server refuses it, and the code says why if there is one.
    case refused(StatusCode?)
    case throttled
    case failed(String)
}

/// A sign-in by the platform begins in one of these ways.
enum PlatformStart: Sendable {
    /// The request that the platform passes to the provider, unchanged, and the attributes to request.
    case request(String, attributeNames: [String])
    /// The server has a session for this device already.
    case alreadySignedIn
    /// The server may let the person in without the provider.
    case refused
    /// The provider cannot be used with the platform here.
    case unsupported
    case failed(String)
}

/// A permission to play.
struct AuthorizationGrant: Sendable {
    let token: MediaToken
    /// It was permitted without the provider for this reason, if so.
    let exception: StatusCode?
}

/// The result of a preauthorization.
enum PreauthorizationAnswer: Sendable {
    case decisions([Decision])
    case refused(PreauthorizationStatus)
    case unknownFormat
}

/// The provider's facts about the person.
struct UserMetadata: Sendable {
    let values: [String: JSONValue]
    /// Names of values that only the programmer's servers can read.
    let encrypted: Set<String>
}

/// The server signs a person out in one of these ways.
enum SignOutAnswer: Sendable {
    /// Nobody is signed in there any more.
    /// - Parameter platformStays: The platform would sign the person in again.
    case done(platformStays: Bool)
    /// A page signs the person out.
    /// - Parameter isDone: The server has signed them out: the page is for the provider only.
    case page(URL, isDone: Bool)
    case failed
}

/// A session that is good.
struct ActiveSession: Sendable {
    let token: StoredToken
    /// The platform's latest answer about it, if it came from the platform.
    var account: AccountMetadata?
}

extension Session.Source {
    /// The code that reports a permission within such a session.
    var exception: StatusCode? {
        switch self {
        case .degraded: .degradedAuthorization
        case .tempPass: .tempPassAuthorization
        case .regular, .apple: nil
        }
    }
}

/// A provider's SAML response in the form that the exchange accepts (client-sdk §2.1).
package enum PlatformAnswerText {
    /// Runs of blanks and tabs become one blank, line breaks and blanks at the ends are removed; then UTF-8 in Base64.
    package static func encoded(_ response: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in response.unicodeScalars {
            switch scalar {
            case "\n", "\r": continue
            case " ", "\t": if text.last != " " { text.append(" ") }
            default: text.append(scalar)
            }
        }
        if text.first == " " { text.removeFirst() }
        if text.last == " " { text.removeLast() }
        return Data(String(text).utf8).base64EncodedString()
    }
}
