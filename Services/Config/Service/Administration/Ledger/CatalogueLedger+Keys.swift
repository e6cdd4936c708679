internal import Clocks
internal import Faults
internal import Storage
internal import Tokens

/// A public key of software statements that services have, or had.
struct PublishedKey: Sendable {
    /// `kid`.
    let name: String
    /// As JSON.
    let jwk: String
    /// 1970 for those that a store began with.
    let since: Timestamp
    let retiredAt: Timestamp?
}

extension CatalogueLedger {
    /// All that any copy ever had, oldest first.
    func statementKeys() throws -> [PublishedKey] {
        try database.all("SELECT kid, jwk, since_ms, retired_at_ms FROM statement_key ORDER BY since_ms, kid") { columns in
            PublishedKey(name: columns.next(), jwk: columns.next(), since: columns.next(), retiredAt: columns.next())
        }
    }

    /// The JWK set that verifies software statements: what a copy has beside what all have, without those that were taken out.
    func keySet(with keys: [JSONWebKey]) throws -> String {
        var known = try statementKeys()
        // No service knows others yet.
        let since = known.isEmpty ? Timestamp(milliseconds: 0) : now
        let names = Set(texts: known.map(\.name))
        for key in keys where !names.contains(OctetText(key.identifier)) {
            try run(
                "INSERT INTO statement_key (kid, jwk, since_ms) VALUES (?, ?, ?) ON CONFLICT (kid) DO NOTHING", [key.identifier, key.json, since])
        }
        known = try statementKeys()
        return #"{"keys":[\#(known.filter { $0.retiredAt == nil }.map(\.jwk).joined(separator: ","))]}"#
    }

    /// Takes a key out for good: statements that it signed are refused from then on, and no copy signs with it.
    /// - Throws: `not_found`; a `Refused` as its cause when it is the only one.
    func retireStatementKey(_ name: String) throws {
        let keys = try statementKeys().filter { $0.retiredAt == nil }
        guard keys.contains(where: { $0.name == name }) else { throw Fault.notFound("key of software statements") }
        guard keys.count > 1 else {
            throw Fault(.invalidRequest, "It is the only key of software statements: let a copy have another one first.")
        }
        try run("UPDATE statement_key SET retired_at_ms = ? WHERE kid = ?", [now, name])
    }
}
