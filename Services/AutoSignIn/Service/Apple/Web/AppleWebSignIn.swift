internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Logging
internal import Storage
internal import TextEncodings

/// Sign in with Apple in a browser (apple §2.1): by `form_post`, with the Services ID.
struct AppleWebSignIn: Sendable {
    let parts: AppleParts

    private var settings: AutoSignInSettings { parts.base.parts.settings }

    /// - Throws: `invalid_requestor`, `client_unknown`, `invalid_redirect_url`; faults of the storage.
    func start(_ request: StartWebSignInRequest) async throws(Fault) -> WebSignInStart {
        let catalogue = try parts.base.parts.catalogue.current()
        let requestor = try catalogue.requireRequestor(request.requestor)
        let app = try catalogue.requireWebApp(of: ProgrammerID(requestor.programmerID))
        let returnURL = try ReturnAddress.checked(request.returnURL, requestor: requestor, fallback: settings.devicesURL)
        let random = parts.base.parts.random
        let (state, browser) = (AppleState.random(from: random), AppleBrowser.random(from: random))
        let record = AppleWebState(
            state: state.digest, browser: browser.digest, requestor: RequestorID(requestor.id), client: app.client, returnURL: returnURL)
        let until = parts.now() + AppleWebState.lifetime
        try await parts.store.store.write { try $0.insert(record, until: until) }
        return WebSignInStart(
            url: address(state, app), browserSecret: browser.text, expiresInSeconds: UInt32(AppleWebState.lifetime.components.seconds))
    }

    private func address(_ state: AppleState, _ app: AppleApp) -> String {
        let fields: [AppleIDCall.Field] = [
            (name: "client_id", value: app.client.text), (name: "redirect_uri", value: settings.callbackURL),
            (name: "response_type", value: "code id_token"), (name: "response_mode", value: "form_post"), (name: "scope", value: "name email"),
            (name: "state", value: state.text), (name: "nonce", value: state.nonce),
        ]
        return settings.apple.browserURL + AppleIDCall.Endpoint.authorize.rawValue + "?" + FormEncoding.encode(fields)
    }

    /// The state is looked at before anything else.
    /// - Throws: `state_invalid`, `ticket_invalid`; as for a device's sign-in.
    func complete(_ request: CompleteWebSignInRequest) async throws(Fault) -> WebSignInOutcome {
        let browser = AppleBrowser(request.browserSecret)
        if !request.ticket.isEmpty {
            let (content, ticket) = try await parts.tickets.open(AppleTicketSecret(request.ticket), holder: browser.holder)
            let person = ProvenPerson(authorization: content.authorization, ticket: ticket)
            return try await arrive(person, RequestorID(content.requestor), content.returnURL, browser, createsAccount: true)
        }
        let (state, now) = (AppleState(request.state), parts.now())
        let pending = try await parts.store.store.write { try $0.takeWebState(state.digest, browser: browser.digest, now: now) }
        guard let pending else { throw Fault(.stateInvalid, "The answer belongs to no sign-in of this browser.") }
        if !request.error.isEmpty { return try cancelled(request.error, pending) }
        guard !request.code.isEmpty else { throw Fault(.appleGrantInvalid, "Apple's answer has no code.") }
        let person = ProvenPerson(authorization: try await prove(request, state, pending))
        return try await arrive(person, pending.requestor, pending.returnURL, browser, createsAccount: false)
    }

    /// Apple knows one error of a person's (apple §2.1); others are ours.
    private func cancelled(_ error: String, _ pending: AppleWebState) throws(Fault) -> WebSignInOutcome {
        guard error == "user_cancelled_authorize" else {
            let name = AppleIDError(rawValue: error)?.rawValue ?? "another"
            parts.base.parts.logger.error("apple.refuses_client", metadata: ["endpoint": "/auth/authorize", "error": "\(name)"])
            throw Fault(.appleRequestInvalid, "Apple refuses the request.")
        }
        return WebSignInOutcome(outcome: .cancelled(WebCancelled(returnURL: pending.returnURL)))
    }

    private func prove(_ request: CompleteWebSignInRequest, _ state: AppleState, _ pending: AppleWebState) async throws(Fault) -> AppleAuthorization {
        let catalogue = try parts.base.parts.catalogue.current()
        guard let programmer = catalogue.programmerID(of: pending.requestor), let app = catalogue.appleApp(pending.client, of: programmer) else {
            throw Fault(.clientUnknown, "The programmer has no web sign-in at Apple.")
        }
        let claim = AppleClaim(
            identityToken: request.identityToken, code: request.code, nonce: state.nonce, name: PersonName(json: request.user))
        return try await parts.proofs.prove(claim, app: app, tie: .state(redirectURI: settings.callbackURL))
    }

    private static let mostTurns = 4

    private func arrive(
        _ person: ProvenPerson, _ requestor: RequestorID, _ returnURL: String, _ browser: AppleBrowser, createsAccount: Bool
    ) async throws(Fault) -> WebSignInOutcome {
        guard let programmer = try parts.base.parts.catalogue.current().programmerID(of: requestor) else {
            throw Fault(.invalidRequestor, "The requestor is not known.")
        }
        for _ in 0..<Self.mostTurns {
            let now = parts.now()
            let arrival = try await parts.store.store.read { try $0.arrival(of: person.authorization, programmer: programmer, now: now) }
            if let question = arrival.question(createsAccount: createsAccount) {
                let content = AppleTicketContent(authorization: person.authorization, requestor: requestor.text, returnURL: returnURL)
                let issued = try parts.ticket(for: person, content, holder: browser.holder)
                if person.ticket == nil { try await parts.store.store.write { try $0.insert(issued) } }
                return WebSignInOutcome(outcome: .ticket(TicketIssued(question, issued)))
            }
            if let session = try await enter(person, arrival, programmer, requestor, browser) {
                let outcome = WebSignedIn(session: session, returnURL: returnURL, isNew: arrival == .newcomer)
                return WebSignInOutcome(outcome: .signedIn(outcome))
            }
        }
        throw Fault(.unavailable, "The account is being changed elsewhere.", retryAfter: .seconds(1))
    }

    private func enter(
        _ person: ProvenPerson, _ arrival: AppleArrival, _ programmer: ProgrammerID, _ requestor: RequestorID, _ browser: AppleBrowser
    ) async throws(Fault) -> WebSession? {
        let entry = AppleEntry(parts, arrival, programmer: programmer)
        let account = try await parts.store.change { database, touched -> AccountID? in
            guard let (account, _) = try entry.enter(person, in: database, &touched) else { return nil }
            if let ticket = person.ticket { try database.take(ticket.secret, holder: browser.holder, now: entry.now) }
            return account.id
        }
        guard let account else { return nil }
        return try await parts.base.webSessions.start(account: account, programmer: programmer, requestor: requestor)
    }
}

/// A browser goes after a web sign-in in one of these places: a path of our own pages, or an address under the requestor's domains.
enum ReturnAddress {
    static let longest = 2048

    /// - Parameter fallback: For an empty address.
    /// - Throws: `invalid_redirect_url`.
    static func checked(_ text: String, requestor: Requestor, fallback: String) throws(Fault) -> String {
        if text.isEmpty { return fallback }
        guard text.utf8.count <= longest, text.utf8.allSatisfy(isAllowed), isPath(text) || isUnderDomain(text, requestor) else {
            let isPlain = text.utf8.allSatisfy(isAllowed) && text.lowercased().hasPrefix("http://")
            let isOursOtherwise = isPlain && isUnderDomain("https://\(text.dropFirst("http://".count))", requestor)
            throw Fault(
                .invalidRedirectURL,
                isOursOtherwise
                    ? "The return address is by plain HTTP: at that domain only https is accepted."
                    : "The return address is not one of the requestor's.")
        }
        return text
    }

    /// `//host` would be another site's.
    private static func isPath(_ text: String) -> Bool { text.hasPrefix("/") && !text.hasPrefix("//") }

    private static func isUnderDomain(_ text: String, _ requestor: Requestor) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else { return false }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }.lowercased()
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count <= 2, parts.count == 1 || UInt16(parts[1]) != nil, host.utf8.allSatisfy(isHostCharacter) else {
            return false
        }
        return requestor.domains.cover(scheme: String(scheme.dropLast(3)), host: String(host))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f && !#"\"<>^`{|}"#.utf8.contains(byte) }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7a: true
        default: "-._".utf8.contains(byte)
        }
    }
}

enum AppleStateSubject {}
enum AppleBrowserSubject {}

/// `state` of a web sign-in: comes back unchanged (apple §2.1).
typealias AppleState = Secret<AppleStateSubject>
/// Value of the cookie that ties Apple's answer to the browser that asked.
typealias AppleBrowser = Secret<AppleBrowserSubject>

extension AppleState {
    /// The request's `nonce`: it follows from the state, which nobody else knows.
    var nonce: String { Base64.url.encode(SHA256.hash("nonce " + text)) }
}

extension AppleBrowser {
    /// The holder who may use the values given out to this browser.
    var holder: String { "browser " + Hex.encode(digest.bytes) }
}

/// A web sign-in that is under way: for one use, in one browser, for 10 minutes.
struct AppleWebState: Hashable, Sendable {
    static let lifetime: Duration = .seconds(600)

    let state: Digest
    let browser: Digest
    let requestor: RequestorID
    let client: AppleClientID
    let returnURL: String
}

extension Database {
    func insert(_ state: AppleWebState, until: Timestamp) throws {
        try run(
            "INSERT INTO apple_web_state (digest, browser, requestor, client_id, return_url, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [state.state, state.browser, state.requestor, state.client, state.returnURL, until])
    }

    /// Uses the state up; what another browser sends leaves it alone.
    func takeWebState(_ state: Digest, browser: Digest, now: Timestamp) throws -> AppleWebState? {
        let take: Statement = """
            DELETE FROM apple_web_state WHERE digest = ? AND browser = ? AND expires_at_ms > ?
            RETURNING digest, browser, requestor, client_id, return_url
            """
        return try first(take, [state, browser, now]) { columns in
            AppleWebState(
                state: columns.next(), browser: columns.next(), requestor: columns.next(), client: columns.next(), returnURL: columns.next())
        }
    }
}
