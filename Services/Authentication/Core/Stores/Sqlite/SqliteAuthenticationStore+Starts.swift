package import Clocks
package import Faults
package import Storage

extension SqliteAuthenticationStore {
    /// What a transaction that starts a session says, and the code that it used.
    package struct Start<Result: Sendable>: Sendable {
        package let result: Result
        package var code: RegistrationCodeText?

        package init(_ result: Result, using code: RegistrationCodeText? = nil) {
            self.result = result
            self.code = code
        }
    }

    /// Runs a transaction that may start a session; memory forgets what that changes before anybody hears of it.
    /// - Throws: Faults of a write.
    package func starting<Result: Sendable>(
        _ session: SessionRecord, _ body: @escaping @Sendable (Database) throws -> Start<Result>
    ) async throws(Fault) -> Result {
        defer { noteStart(of: session) }
        do throws(Fault) {
            let start = try await store.write(body)
            if let code = start.code { codes.forget(code) }
            return start.result
        } catch {
            if session.record != nil { codes.forgetAll(after: error) }
            throw error
        }
    }
}

extension CoherentCache {
    /// The change may be in the store all the same, and nobody knows what it changed.
    package func forgetAll(after fault: Fault) {
        if fault.code != .overloaded { forgetAll() }
    }
}

extension Database {
    /// Marks the registration code of a session used, and ends a sign-in under way through it.
    /// - Returns: The code, and that there is none to be used; `nil` when it is no longer live or has been used.
    package func use(codeOf session: SessionRecord, now: Timestamp) throws -> SqliteAuthenticationStore.Start<Void>? {
        guard let record = session.record else { return .init(()) }
        return try use(record, for: session, now: now).map { .init((), using: $0) }
    }

    /// - Parameter session: That it makes: until its end the code's maker may ask for it.
    /// - Returns: The code; `nil` when it is no longer live or has been used, or comes from before the session's person or device was erased.
    package func use(_ record: RegistrationRecordID, for session: SessionRecord, now: Timestamp) throws -> RegistrationCodeText? {
        let used: RegistrationCodeText? = try first(RegistrationRecordID.use, record.use(for: session, now: now)) { $0.next() }
        guard let code = used else { return nil }
        try run(RegistrationRecordID.endSignIns, [record])
        return code
    }
}
