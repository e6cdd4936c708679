public import ContractRuntime
public import Contracts
internal import Faults
internal import Storage

/// What the service holds of the person of some sessions. Permits lead from a session to its row, and not back: they stay, and lead to nobody without it.
extension AuthorizationService {
    private static let mostSessions = 10_000

    public func exportPerson(_ request: PersonSessions, context: CallContext) async throws -> PersonRecords {
        let refusals = try await refusals?.find(try Self.sessions(request)) ?? []
        let rows = refusals.map { refusal in
            let (session, code) = (JsonText.quoted(refusal.session), JsonText.quoted(refusal.code))
            let (source, at) = (refusal.source.rawValue, refusal.at.milliseconds)
            return #"{"session":\#(session),"code":\#(code),"source":\#(source),"refused_at_ms":\#(at)}"#
        }
        return PersonRecords(tables: rows.isEmpty ? [] : [PersonTable(name: "refusals", rows: rows)], remainders: [Self.permits])
    }

    public func erasePerson(_ request: PersonSessions, context: CallContext) async throws -> ErasedRecords {
        let erased = try await refusals?.erase(try Self.sessions(request)) ?? 0
        store.forgetMemory()
        return ErasedRecords(
            tables: erased == 0 ? [] : [ErasedTable(name: "refusals", rows: UInt32(clamping: erased))], remainders: [Self.permits])
    }

    private static func sessions(_ request: PersonSessions) throws(Fault) -> [String] {
        guard request.sessionIDs.count <= mostSessions else {
            throw Fault(.invalidRequest, "At most \(mostSessions) sessions may be named at once.")
        }
        return request.sessionIDs
    }

    private static let permits = PersonRemainder(
        name: "authz_tokens",
        reason: "digests of a session's random id with device and resource: without the session nobody can tell whose they were",
        end: "a day after the permit's end")
}
