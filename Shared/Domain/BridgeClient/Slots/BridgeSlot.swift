public import Clocks

/// One set of credentials at an upstream, and what is to be done with it (bridge §4.2). No input and output: its holder does the calls, one at a time.
public struct BridgeSlot: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A slot of one device: lost credentials cost that device's sign-in.
        case device
        /// A slot of many devices: they are not given up at a single word.
        case shared
    }

    public enum State: Hashable, Sendable {
        case empty
        case registered(BridgeCredentials)
        /// Upstream does not take the statement; nothing is registered before that moment.
        case refused(code: String, until: Timestamp)
    }

    /// The next step of a call that needs the slot.
    public enum Step: Hashable, Sendable {
        case register
        case token(BridgeCredentials)
        case call(BridgeBearer)
        /// Not now.
        case wait(Wait)
    }

    public enum Wait: Hashable, Sendable {
        case statementRefused(code: String, until: Timestamp)
        /// Upstream said that it does not know the client; it is asked again before everybody's credentials are given up.
        case clientDoubted(until: Timestamp)
        /// Upstream refused a fresh bearer, or to give one.
        case accessRefused(until: Timestamp)
        /// Upstream has lost many clients: they are registered anew one after the other.
        case clientsLost(until: Timestamp)
    }

    /// An alarm for an operator.
    public enum Alarm: String, Hashable, Sendable {
        case accessRefused = "bridge.access_refused"
        case clientLost = "bridge.client_lost"
        case clientsLost = "bridge.clients_lost"
        case scopeMissing = "bridge.scope_missing"
        case statementRefused = "bridge.statement_refused"
    }

    private static let refusedStatement: Duration = .seconds(600)
    private static let refusedRegistration: Duration = .seconds(60)
    private static let doubt: Duration = .seconds(10)
    private static let refusedToken: Duration = .seconds(60)
    private static let leastLeft: Duration = .seconds(60)

    public let kind: Kind
    public private(set) var state: State
    public private(set) var bearer: BridgeBearer?
    private var doubtedSince: Timestamp?
    /// No bearer is asked for before.
    private var pausedUntil: Timestamp?

    public init(_ kind: Kind, state: State = .empty, bearer: BridgeBearer? = nil) {
        self.kind = kind
        self.state = state
        self.bearer = bearer
    }

    /// The step to take at that moment.
    public func step(_ now: Timestamp) -> Step {
        switch state {
        case .refused(let code, let until) where now < until && until - now <= Self.refusedStatement:
            return .wait(.statementRefused(code: code, until: until))
        case .empty, .refused: return .register
        case .registered(let credentials):
            if let doubtedSince, now < doubtedSince + Self.doubt, now >= doubtedSince {
                return .wait(.clientDoubted(until: doubtedSince + Self.doubt))
            }
            if let bearer, now < bearer.end, doubtedSince == nil { return .call(bearer) }
            if let pausedUntil, isPaused(now) { return .wait(.accessRefused(until: pausedUntil)) }
            return .token(credentials)
        }
    }

    /// True when the bearer should be renewed though it still serves: less than a minute or 5 % of its life is left. Not while upstream gives none.
    public func isWorn(_ now: Timestamp) -> Bool {
        guard let bearer else { return true }
        if now < bearer.end, isPaused(now) { return false }
        return bearer.end - now < max(Self.leastLeft, bearer.life / 20)
    }

    /// - Parameter scope: Which the client needs.
    /// - Returns: An alarm when the registration is of no use.
    public mutating func registered(_ credentials: BridgeCredentials, scope: String, _ now: Timestamp) -> Alarm? {
        bearer = nil
        doubtedSince = nil
        guard credentials.scopes.contains(scope) else {
            state = .refused(code: "scope_missing", until: now + Self.refusedStatement)
            return .scopeMissing
        }
        state = .registered(credentials)
        return nil
    }

    public mutating func issued(_ bearer: BridgeBearer) {
        self.bearer = bearer
        doubtedSince = nil
    }

    /// A registration or a token request failed so.
    /// - Returns: An alarm when it is no passing fault. After `clientLost` the slot is empty, and what hung on its credentials has ended.
    public mutating func failed(_ operation: BridgeOperation, _ failure: BridgeFailure, _ now: Timestamp) -> Alarm? {
        guard case .refused(let refusal) = failure else {
            guard case .badRequest = failure else { return nil }
            return operation == .register ? refuse("bad_request", Self.refusedRegistration, now) : rest(now)
        }
        switch (operation, refusal.code) {
        case (.token, "invalid_client"): return clientRefused(now)
        case (.register, "unapproved_software_statement"), (.register, "invalid_software_statement"):
            return refuse(refusal.code, Self.refusedStatement, now)
        case (.register, _): return refuse(refusal.code, Self.refusedRegistration, now)
        case (.token, _): return rest(now)
        default: return nil
        }
    }

    /// Upstream does not know the client. A device's own is registered anew at once; a shared one is asked again first.
    public mutating func clientRefused(_ now: Timestamp) -> Alarm? {
        guard case .registered = state else { return nil }
        bearer = nil
        if kind == .shared, doubtedSince == nil {
            doubtedSince = now
            return nil
        }
        state = .empty
        doubtedSince = nil
        return .clientLost
    }

    /// A call with that bearer got 401. The first one may be made once more, with another bearer.
    /// - Parameter isRepetition: True for the second: what it asked about is not for this client.
    /// - Returns: The alarm of a second one.
    public mutating func unauthorized(with used: BridgeBearer, isRepetition: Bool) -> Alarm? {
        if bearer == used { bearer = nil }
        return isRepetition ? .accessRefused : nil
    }

    /// The statement was replaced, or an operator asks for another attempt.
    public mutating func forgive() {
        if case .refused = state { state = .empty }
        pausedUntil = nil
        doubtedSince = nil
    }

    /// Upstream gives the client no bearer: it is asked again in a minute. A bearer that holds serves meanwhile.
    private mutating func rest(_ now: Timestamp) -> Alarm {
        pausedUntil = now + Self.refusedToken
        return .statementRefused
    }

    private func isPaused(_ now: Timestamp) -> Bool { pausedUntil.map { now < $0 && $0 - now <= Self.refusedToken } ?? false }

    private mutating func refuse(_ code: String, _ pause: Duration, _ now: Timestamp) -> Alarm {
        state = .refused(code: code, until: now + pause)
        return .statementRefused
    }
}
