internal import SandboxKit
internal import Clocks

/// The values that a person's sign-in gives an app or a page.
struct SignInIssue: Sendable {
    /// The person's data at the first consent, which the client gets once.
    struct Person: Sendable, Codable, Equatable {
        struct Name: Sendable, Codable, Equatable {
            var firstName: String?
            var lastName: String?
        }

        var name: Name?
        var email: String?
    }

    let code: String
    let identityToken: String
    /// `sub`.
    let subject: String
    /// On the first consent of the group only.
    let person: Person?
    let realUserStatus: Int?
}

/// A sign-in at one client.
struct SignInOrder: Sendable {
    let account: String
    let client: AppleClient
    var nonce: String?
    var scopes: Set<String> = []
    /// nil for native ones.
    var redirectURI: String?
    var hidesEmail = false
    /// In place of the account's own; the person may edit or withhold a name.
    var name: SignInIssue.Person.Name?
}

extension AppleMemory.Content {
    /// Signs a person in: notes the consent, makes a code and an identity token.
    mutating func signIn(_ order: SignInOrder, now: Timestamp) throws -> SignInIssue {
        let user = user(order.account)
        let group = order.client.group
        let hidesEmail = ledger.consent(order.account, group: group.id)?.hidesEmail ?? order.hidesEmail
        let grant = AuthorizationGrant(
            account: order.account, client: order.client.id, group: group.id, hidesEmail: hidesEmail, authenticatedAt: now)
        let first = ledger.consent(grant)
        let code = "c" + octets.text(32, for: "code") + ".0." + Hexadecimal.text(octets.next(4, for: "code-suffix"))
        ledger.add(AuthorizationCode(grant: grant, nonce: order.nonce, redirectURI: order.redirectURI, issuedAt: now), as: code)
        secrets.add(code: code)
        let isNative = order.client.redirectURLs == nil
        var token = tokenOrder(grant, client: order.client, nonce: order.nonce, now: now)
        token.code = code
        token.realUserStatus = isNative && first.isFirstInClient ? user.realUserStatus : nil
        let text = try identityToken(token, now: now)
        return SignInIssue(
            code: code, identityToken: text, subject: names.subject(order.account, team: group.team),
            person: first.isFirstInGroup ? person(order, user, hidesEmail: hidesEmail) : nil, realUserStatus: token.realUserStatus)
    }

    func tokenOrder(_ grant: AuthorizationGrant, client: AppleClient, nonce: String?, now: Timestamp) -> IdentityTokenOrder {
        let team = client.group.team
        var order = IdentityTokenOrder(
            user: user(grant.account), client: client.id, team: team, nonce: nonce, hidesEmail: grant.hidesEmail,
            authenticatedAt: grant.authenticatedAt)
        order.transferSubject = transfers.current(group: grant.group, team: team, now: now).map {
            names.transferSubject(grant.account, from: $0.from, to: $0.to)
        }
        return order
    }

    mutating func identityToken(_ order: IdentityTokenOrder, now: Timestamp) throws -> String {
        let text = try TokenSignature.good.token(order.claims(names, now: now), key: keys.signing)
        secrets.add(identityToken: text)
        return text
    }

    private func person(_ order: SignInOrder, _ user: AppleUser, hidesEmail: Bool) -> SignInIssue.Person? {
        var person = SignInIssue.Person()
        if order.scopes.contains("name") {
            person.name = order.name ?? SignInIssue.Person.Name(firstName: user.givenName, lastName: user.familyName)
        }
        if order.scopes.contains("email") { person.email = hidesEmail ? names.relayAddress(user.account, team: order.client.group.team) : user.email }
        return person == SignInIssue.Person() ? nil : person
    }
}
