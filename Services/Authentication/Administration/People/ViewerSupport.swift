internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Finds and ends a viewer's sessions for support; whoever calls has checked the person and records the look-up.
struct ViewerSupport: Sendable {
    /// Sessions that one answer tells of.
    static let most = 100
    private static let longest = 512
    /// All that an answer tells of is ended in one call this often: a device that signs in meanwhile keeps nobody busy for ever.
    private static let rounds = 20

    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let scrambler: UserIDScrambler
    let clock: any WallClock
    let metrics: AuthenticationMetrics

    /// - Throws: As `FindViewerSessions`; faults of the store.
    func find(_ request: FindViewerSessionsRequest) async throws(Fault) -> ViewerSessions {
        let found = try await look(for: request)
        return ViewerSessions(
            sessions: found.sessions.prefix(Self.most).map(\.forSupport), hasMore: found.sessions.count > Self.most, code: found.code?.forSupport)
    }

    /// - Returns: The number of sessions that ended and were not over.
    /// - Throws: As `find`.
    func end(_ request: EndViewerSessionsRequest) async throws(Fault) -> Int {
        let viewer = request.viewer ?? FindViewerSessionsRequest()
        let wanted = SessionID(request.sessionID)
        var ended = 0
        for _ in 0..<Self.rounds {
            let found = try await look(for: viewer).sessions
            for session in found where request.sessionID.isEmpty || session.id == wanted {
                let end = try await store.end(session.key, client: session.clientID, mvpd: session.mvpd, now: clock.now())
                ended += end == nil ? 0 : 1
            }
            guard request.sessionID.isEmpty, found.count > Self.most else { break }
        }
        metrics.endedSessions.increment(by: ended)
        return ended
    }

    /// - Returns: At most one session more than an answer tells of.
    private func look(for request: FindViewerSessionsRequest) async throws(Fault) -> (sessions: [SessionRecord], code: RegistrationRecord?) {
        let requestor = RequestorID(try catalogue.current().requireRequestor(request.requestor).id)
        let found: [SessionRecord]
        var code: RegistrationRecord?
        switch request.viewer {
        case .code(let text):
            let typed = RegistrationCodeText(typed: try Self.bounded(text).filter { $0 != " " && $0 != "-" })
            guard let record = try await store.keptRecord(typed, now: clock.now()), record.requestor == requestor else { return ([], nil) }
            code = record
            found = try await store.sessions(SessionKey(device: record.deviceID, requestor: requestor))
        case .deviceID(let id):
            found = try await store.sessions(SessionKey(device: DeviceID(try Self.bounded(id)), requestor: requestor))
        case .userID(let id):
            guard !request.mvpd.isEmpty else { throw Fault(.invalidRequest, "A user id is an MVPD's: name the MVPD.") }
            let (name, mvpd) = (try Self.bounded(id), MvpdID(request.mvpd))
            found = try await store.sessions(
                named: name, userIDs: [scrambler.scramble(name, mvpd: mvpd), name], at: requestor, mvpd: mvpd, most: Self.most + 1)
        case nil:
            throw Fault(.invalidRequest, "A code, a device id or a user id is required.")
        }
        let mvpd = MvpdID(request.mvpd)
        return (request.mvpd.isEmpty ? found : found.filter { $0.mvpd == mvpd }, code)
    }

    private static func bounded(_ text: String) throws(Fault) -> String {
        guard (1...longest).contains(text.utf8.count) else { throw Fault(.invalidRequest, "The id has to have 1 to \(longest) octets.") }
        return text
    }
}

extension SessionRecord {
    /// The fields that support needs: no attribute, no id of the person, and only the beginning of the device's id.
    fileprivate var forSupport: ViewerSession {
        ViewerSession(
            id: id.text, mvpd: mvpd.text, kind: kind, authenticatedAtMilliseconds: UInt64(clamping: origin.authenticatedAt.milliseconds),
            createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds), expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds),
            devicePrefix: String(key.device.text.prefix(4)), deviceType: device.type, deviceModel: device.model, osName: device.osName)
    }
}

extension RegistrationRecord {
    fileprivate var forSupport: ViewerCode {
        ViewerCode(
            createdAtMilliseconds: UInt64(clamping: generatedAt.milliseconds), expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds),
            isUsed: isUsed)
    }
}

extension ViewerSupport: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.findViewerSessions) { request, _ in try await find(request) }
        calls.unary(AuthenticationOperationsMethods.endViewerSessions) { request, _ in
            EndViewerSessionsResponse(ended: UInt32(clamping: try await end(request)))
        }
    }
}
