internal import Contracts
internal import Faults
internal import SamlExplanation
internal import Synchronization

/// The latest sign-ins, for engineers who ask why one failed: in memory only, and never more than a number of them.
///
/// Answers that lead to no pending sign-in are kept apart, since anybody can send them: they must not push the others out.
final class SignInReports: Sendable {
    private struct State {
        var known: Ring
        var unknown: Ring
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - capacity: Sign-ins that are remembered, at least 1.
    ///   - strays: Answers to nothing that are remembered, at least 1.
    init(capacity: Int = 512, strays: Int = 64) {
        state = Mutex(State(known: Ring(capacity: capacity), unknown: Ring(capacity: strays)))
    }

    func add(_ record: SignInRecord) {
        state.withLock { record.mvpd.isEmpty ? $0.unknown.append(record) : $0.known.append(record) }
    }

    /// - Throws: `not_found`.
    func report(_ request: GetSignInReportRequest) throws(Fault) -> SignInReport {
        let trace = request.traceID.lowercased()
        let found = state.withLock { state in
            state.known.newestFirst.first { $0.trace == trace } ?? state.unknown.newestFirst.first { $0.trace == trace }
        }
        guard let found else { throw Fault(.notFound, "No sign-in of that trace id is remembered.") }
        return found.contract()
    }

    func list(_ request: ListSignInReportsRequest) -> Contracts.SignInReports {
        let all = state.withLock { $0.known.newestFirst + $0.unknown.newestFirst }.sorted { $0.endedAt > $1.endedAt }
        let wanted = all.filter { (request.mvpd.isEmpty || $0.mvpd == request.mvpd) && !(request.failedOnly && $0.result == .signedIn) }
        let limit = request.limit == 0 ? wanted.count : Int(request.limit)
        return Contracts.SignInReports(reports: wanted.prefix(limit).map { $0.contract(isWhole: false) })
    }

    /// The newest of a series.
    private struct Ring {
        private let capacity: Int
        private var records: [SignInRecord] = []
        private var next = 0

        init(capacity: Int) {
            precondition(capacity > 0, "a ring holds at least one record")
            self.capacity = capacity
        }

        mutating func append(_ record: SignInRecord) {
            if records.count < capacity { records.append(record) } else { records[next] = record }
            next = (next + 1) % capacity
        }

        var newestFirst: [SignInRecord] { (records[next...] + records[..<next]).reversed() }
    }
}
