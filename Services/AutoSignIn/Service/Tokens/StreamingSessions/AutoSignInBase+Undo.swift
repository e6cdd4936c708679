internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Storage

extension AutoSignInBase {
    /// After a commit that failed: the session that `authentication` has made for it must not outlive it. One that the store has stays: the device
    /// had it before, another copy let the device in meanwhile, or the commit's answer alone was lost.
    func undo(_ session: StreamingSessionID, _ context: CallContext) async {
        if await isKept(session) { return }
        do {
            _ = try await parts.logins.endAutomaticSessions(EndAutomaticSessionsRequest(sessionIDs: [session.text]), context: context.child())
        } catch {
            parts.logger.warning("session_left_over", metadata: ["session": "\(session)", "error": "\(error)"])
        }
    }

    /// False also when the store does not say: what nobody can end must not stay.
    private func isKept(_ session: StreamingSessionID) async -> Bool {
        do throws(Fault) { return try await parts.store.session(session) != nil } catch { return false }
    }
}
