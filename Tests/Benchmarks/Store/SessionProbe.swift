import AuthenticationAdministration
import AuthenticationCore
import Clocks
import Contracts
import Faults
import Identifiers

/// Reads and writes sessions through the store as the service does.
struct SessionProbe: Sendable {
    private let store: SqlAuthenticationStore

    init(_ database: AuthenticationDatabase) { store = database.store }

    /// Reads the sessions of a device at a requestor, as a call of either API does.
    /// - Returns: The number of sessions that it has.
    /// - Throws: The faults of `Store.read`.
    func count(device: String, requestor: String) async throws(Fault) -> Int {
        try await store.sessions(SessionKey(device: DeviceID(device), requestor: RequestorID(requestor))).count
    }

    /// Stores a session as a sign-in at an MVPD makes it, in place of the device's earlier one.
    /// - Parameters:
    ///   - number: The person's number; another number gives other ids.
    ///   - now: Milliseconds since 1970; the session lasts 30 days.
    /// - Throws: The faults of `Store.write`.
    func start(device: String, requestor: String, number: Int, now: Int64) async throws(Fault) {
        let now = Timestamp(milliseconds: now)
        let person = "person-\(number)@north-cable.example"
        let record = SessionRecord(
            id: SessionID("session-\(device)"), key: SessionKey(device: DeviceID(device), requestor: RequestorID(requestor)),
            mvpd: MvpdID("NorthCable"), record: nil, claims: DeviceClaims(), clientID: ClientID("client-\(number)"), userID: "user-\(number)",
            subject: ProviderSubject(
                userID: person,
                name: SubjectName(
                    value: person, format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent", nameQualifier: "https://north-cable.example/idp",
                    sessionIndex: "_index-\(number)"),
                isHomeBased: false,
                attributes: [
                    UserAttribute(key: "zip", values: ["94103"]), UserAttribute(key: "householdID", values: ["household-\(number / 3)"]),
                    UserAttribute(key: "maxRating", values: ["TV-14"]),
                ]),
            createdAt: now, expiresAt: now + .seconds(30 * 86_400), origin: SessionOrigin(kind: .regular, authenticatedAt: now), updatedAt: now,
            device: DeviceInformation(type: "TV", model: "AppleTV11,1", manufacturer: "Apple", osName: "tvOS", osVersion: "18.2"))
        _ = try await store.start(record, now: now)
    }

    /// Tells every row of a person, as an export does.
    /// - Returns: The number of rows.
    /// - Throws: The faults of `Store.read`.
    func told(user: String) async throws(Fault) -> Int {
        let person = try await store.person(Self.query(user))
        return try await store.told(person) { _, _ in nil }.tables.reduce(0) { $0 + $1.rows.count }
    }

    /// Erases a person.
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: The number of rows.
    /// - Throws: The faults of `Store.write`.
    func erase(user: String, now: Int64) async throws(Fault) -> Int {
        try await store.erase(Self.query(user), now: Timestamp(milliseconds: now)).rows.reduce(0) { $0 + $1.count }
    }

    private static func query(_ user: String) -> PersonQuery { PersonQuery(name: .user(user), mvpd: nil, isAnonymous: { _ in false }) }
}
