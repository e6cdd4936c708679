internal import Clocks
internal import Faults
internal import Storage

extension CallerCheck {
    /// Gives the login to the account when a device came in by Sign in with Apple (apple §1.4). Its person then signed in at their TV provider. A
    /// login that opens another account stays there.
    /// - Returns: The account; `nil`: nobody signed in with Apple on the device.
    /// - Throws: Faults of the storage.
    func joinedAccount(
        _ login: CallerLogin, _ device: DeviceID, _ requestor: RequestorID, _ client: ClientID
    ) async throws(Fault) -> AccountID? {
        guard [.regular, .platform, .shared].contains(login.kind) else { return nil }
        let now = clock.now()
        let found = try await store.store.read { try $0.appleSession(device: device, requestor: requestor, client: client, now: now) }
        guard let found else { return nil }
        return try await store.change { database, touched in
            // Logged out or closed meanwhile, it is no longer the person's.
            guard let session = try database.session(found.id), let account = try database.account(session.account), account.closedAt == nil,
                try database.attach(login.person, to: account.id, programmer: account.programmer, now: now)
            else { return nil }
            touched.accounts.insert(account.id)
            return account.id
        }
    }
}

extension Database {
    /// The live session that this client made on the device by Sign in with Apple.
    fileprivate func appleSession(
        device: DeviceID, requestor: RequestorID, client: ClientID, now: Timestamp
    ) throws -> StreamingSessionRecord? {
        let found = try sessions("device_id = ? AND requestor = ? AND client_id = ? AND link_id IS NOT NULL", [device, requestor, client])
        return found.first.flatMap { $0.isLive(now) ? $0 : nil }
    }
}
