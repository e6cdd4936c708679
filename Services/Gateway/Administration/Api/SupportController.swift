internal import Contracts
internal import Faults
internal import GatewayEdge

/// Looks for viewers' sessions and ends them: config says who may and keeps the record, authentication does it. Nobody gets an answer that is not
/// recorded.
struct SupportController: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations
    let authorization: any Authorization

    /// The part of a viewer's state that support sees.
    struct Found: Sendable {
        let viewer: ViewerSessions
        /// The last no of sessions that had one; `nil`: `authorization` cannot be asked, or keeps none.
        let refusals: [OctetText: SessionRefusal]?

        func refusal(of session: ViewerSession) -> SessionRefusal? { refusals?[OctetText(session.id)] }
    }

    func find(_ viewer: FindViewerSessionsRequest, by token: String, _ exchange: Exchange) async throws -> Found {
        try await check("", viewer, token, exchange)
        let found = try await operations.findViewerSessions(viewer, context: exchange.call)
        let count = found.hasMore ? "more than \(found.sessions.count)" : "\(found.sessions.count)"
        try await check("looked for \(Self.masked(viewer)), found \(count)", viewer, token, exchange)
        return Found(viewer: found, refusals: await refusals(of: found.sessions, exchange))
    }

    /// Why a decision was a no is worth less than the sessions: these are shown without it.
    private func refusals(of sessions: [ViewerSession], _ exchange: Exchange) async -> [OctetText: SessionRefusal]? {
        guard !sessions.isEmpty else { return [:] }
        let request = FindRefusalsRequest(sessionIDs: sessions.map(\.id))
        guard let answer = try? await authorization.findRefusals(request, context: exchange.call) else { return nil }
        return Dictionary(answer.refusals.map { (OctetText($0.sessionID), $0) }) { _, last in last }
    }

    /// - Parameter session: Empty: all of them.
    /// - Returns: The number of sessions that ended and were not over.
    func end(_ session: String, of viewer: FindViewerSessionsRequest, by token: String, _ exchange: Exchange) async throws -> UInt32 {
        let what = session.isEmpty ? "all sessions" : "session \(session.prefix(8))…"
        try await check("ends \(what) of \(Self.masked(viewer))", viewer, token, exchange)
        let request = EndViewerSessionsRequest(viewer: viewer, sessionID: session)
        return try await operations.endViewerSessions(request, context: exchange.changingCall).ended
    }

    /// - Parameter subject: For the audit log; empty: nothing is recorded yet.
    private func check(_ subject: String, _ viewer: FindViewerSessionsRequest, _ token: String, _ exchange: Exchange) async throws {
        let check = CheckAdministratorRequest(
            token: token, permission: .support, requestorID: viewer.requestor, mvpdID: viewer.mvpd, subject: subject)
        _ = try await administration.checkAdministrator(check, context: subject.isEmpty ? exchange.call : exchange.changingCall)
    }

    /// The audit log must not become a list of devices and people.
    private static func masked(_ viewer: FindViewerSessionsRequest) -> String {
        let (kind, value) =
            switch viewer.viewer {
            case .code(let code): ("code", code)
            case .deviceID(let id): ("device", id)
            case .userID(let id): ("user", id)
            case nil: ("nobody", "")
            }
        let beginning = "\(kind) \(value.prefix(min(4, value.count / 2)))…"
        return viewer.mvpd.isEmpty ? beginning : "\(beginning) of \(viewer.mvpd.prefix(64))"
    }
}

/// Support names a viewer in one of these ways.
enum ViewerKind: String, CaseIterable, Sendable {
    case code
    case device
    case user

    static let longest = 512

    func named(_ value: String) -> FindViewerSessionsRequest.Viewer {
        switch self {
        case .code: .code(value)
        case .device: .deviceID(value)
        case .user: .userID(value)
        }
    }

    /// 1 to 512 octets without controls.
    static func isGood(_ value: String) -> Bool {
        (1...longest).contains(value.utf8.count) && !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

/// A no in the words of somebody on the phone.
enum RefusalText {
    static func source(_ source: DecisionSource) -> String {
        switch source {
        case .mvpd: "mvpd"
        case .degradation: "degradation"
        case .tempPass: "tempPass"
        case .dummy: "nobody"
        case .unrecognized: "other"
        }
    }

    static func sentence(_ refusal: SessionRefusal) -> String {
        switch Fault.Code(rawValue: refusal.code) {
        case .authorizationDeniedByMvpd: "The MVPD said no, mostly because the subscription does not include the channel."
        case .authorizationDeniedByParentalControls: "The viewer's parental controls at the MVPD forbid it."
        case .authorizationDeniedByHbaPolicies: "The MVPD lets it be watched at the viewer's home only, or nowhere but there."
        case .authorizationDeniedBySessionInvalidated: "The MVPD has ended the viewer's session; the viewer has to sign in again."
        case .authorizationDeniedByDegradationRule: "A degradation rule of this cluster forbids it for now."
        case .identityNotRecognizedByMvpd: "The MVPD does not know the viewer any more; the viewer has to sign in again."
        case .networkReceivedError: "The MVPD answered with an error."
        case .networkConnectionTimeout: "The MVPD could not be reached in time."
        case .maximumExecutionTimeExceeded: "The MVPD took too long."
        case .authenticationSessionExpired, .authenticationSessionMissing: "A degradation rule or a trial had let the viewer in, and is over."
        case .temporaryAccessDurationLimitExceeded: "The viewer's TempPass is over."
        case .temporaryAccessResourcesLimitExceeded: "The viewer has used up what the TempPass includes."
        case .invalidTemporaryAccessIdentity: "The app did not say whose promotional TempPass it is."
        default: "It was refused."
        }
    }
}
