internal import SandboxKit
internal import Clocks

/// `/_device/accounts/{account}/apps/{bundleID}/signin`: what `ASAuthorizationController` gives an app.
struct NativeSignInEndpoint: Sendable {
    /// `ASAuthorizationError.canceled`.
    private static let cancelled = 1001

    let memory: AppleMemory

    private enum Choice: String, Decodable {
        case approve, cancel
    }

    private struct Asking: Decodable {
        let nonce: String?
        let state: String?
        let scopes: [String]?
        let answer: Choice?
        let hidesEmail: Bool?
        let firstName: String?
        let lastName: String?
    }

    private struct Credential: Encodable {
        let identityToken: String
        let code: String
        var state: String?
        /// `sub`.
        let userID: String
        /// On the first consent of the group only.
        var user: SignInIssue.Person?
        var realUserStatus: Int?
    }

    private struct Cancelled: Encodable {
        let error = "canceled"
        let code = NativeSignInEndpoint.cancelled
    }

    private struct State: Encodable {
        let state: AppleUser.CredentialState
    }

    func signIn(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content, app in
            let asking = try SettingsFault.decode(Asking.self, from: request.body)
            if asking.answer == .cancel { return try .json(Cancelled(), outcome: "cancelled") }
            let scopes = Set(asking.scopes ?? [])
            guard scopes.isSubset(of: ["name", "email"]) else { throw SettingsFault(key: "scopes", problem: "are name and email") }
            var order = SignInOrder(account: request.parameter("account"), client: app, nonce: asking.nonce, scopes: scopes)
            order.hidesEmail = asking.hidesEmail ?? false
            if asking.firstName != nil || asking.lastName != nil {
                order.name = SignInIssue.Person.Name(firstName: asking.firstName, lastName: asking.lastName)
            }
            let issue = try content.signIn(order, now: request.now)
            let credential = Credential(
                identityToken: issue.identityToken, code: issue.code, state: asking.state, userID: issue.subject, user: issue.person,
                realUserStatus: issue.realUserStatus)
            return try .json(credential, outcome: "signed-in", isKept: false)
        }
    }

    /// `getCredentialState(forUserID:)`; the query names `user`.
    func credentialState(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content, app in
            let account = request.parameter("account")
            let scripted = content.user(account).credentialState
            let isSame = request.queryValue("user") == content.names.subject(account, team: app.group.team)
            let isKnown = content.ledger.consent(account, group: app.group.id) != nil
            let state = scripted ?? (!isSame ? .notFound : isKnown ? .authorized : .revoked)
            return try .json(State(state: state), outcome: state.rawValue)
        }
    }

    private func answer(_ request: AppleRequest, _ act: (inout AppleMemory.Content, AppleClient) throws -> AppleAnswer) -> AppleAnswer {
        memory.access { content in
            guard let app = content.directory.app(request.parameter("bundleID")) else {
                return .problem("unknownApp", "no group has this bundle id", status: .notFound)
            }
            do {
                return try act(&content, app)
            } catch {
                return .problem("badRequest", "\(error)", status: .badRequest)
            }
        }
    }
}
