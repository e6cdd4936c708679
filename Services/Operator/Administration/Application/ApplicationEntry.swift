internal import CatalogueFiles
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// An application as the administrator's draft has it, to be changed as a whole.
struct ApplicationEntry {
    let id: String
    var object: [String: Any]
    private let etag: String?

    /// - Throws: `CommandFailure` when there is none, or the cluster does not answer.
    static func read(_ id: String) async throws -> ApplicationEntry {
        let answer = try await AdministrationCall.send("GET", "/applications/\(FormEncoding.encode(id))")
        guard let object = answer.object["entity"] as? [String: Any] else {
            throw CommandFailure("the cluster tells nothing of the application '\(id)'")
        }
        return ApplicationEntry(id: id, object: object, etag: answer.header("etag"))
    }

    /// All of them.
    static func all() async throws -> [ApplicationEntry] {
        var (all, page): ([ApplicationEntry], Int) = ([], 1)
        while true {
            let answer = try await AdministrationCall.send("GET", "/applications?size=\(pageSize)&page=\(page)")
            let items = answer.object["items"] as? [[String: Any]] ?? []
            all += items.compactMap { item in
                guard let id = item["id"] as? String, let object = item["entity"] as? [String: Any] else { return nil }
                return ApplicationEntry(id: id, object: object, etag: item["etag"] as? String)
            }
            guard items.count == pageSize else { return all }
            page += 1
        }
    }

    /// The most that the API gives at once.
    private static let pageSize = 200

    /// Puts it into the draft in place of what stands there.
    /// - Throws: `CommandFailure` naming the fields that are wrong, also when somebody changed it meanwhile.
    func write() async throws {
        _ = try await AdministrationCall.send(
            "PUT", "/applications/\(FormEncoding.encode(id))", body: try AdministrationCall.json(object), ifMatch: etag)
    }

    var programmer: String? { object["programmer"] as? String }
    var requestors: [String] { object["requestors"] as? [String] ?? [] }

    /// Key pairs as the catalogue has them.
    var keys: [[String: Any]] {
        get { object["signingKeys"] as? [[String: Any]] ?? [] }
        set { object["signingKeys"] = newValue }
    }

    var statements: [String] {
        get { object["legacyStatements"] as? [String] ?? [] }
        set { object["legacyStatements"] = newValue }
    }

    var clients: [[String: Any]] {
        get { object["clients"] as? [[String: Any]] ?? [] }
        set { object["clients"] = newValue }
    }

    /// Puts it into the draft, and then keeps a secret of it under a reference of its programmer's. If the draft refuses (a pair that is there
    /// already, for one), kept secrets stay as they are. A push in between is refused, since the secret is not there yet. Without the secret the
    /// draft stays as it was.
    /// - Throws: As `write`.
    func write(keeping secret: String, as reference: String) async throws {
        var body = ["secret": secret]
        body["programmer"] = programmer
        let kept = try AdministrationCall.json(body)
        try await DraftEdit.together { (edit: inout DraftEdit) async throws -> Void in
            _ = try await edit.read(EntityKey(.applications, id))
            try await write()
            _ = try await AdministrationCall.send("POST", "/secrets/\(FormEncoding.encode(reference))", body: kept)
        }
    }

    /// Takes out what an earlier run of a command has put into the draft, so that the command can be said again. A live value stays, and is refused
    /// as there.
    /// - Parameters:
    ///   - value: The text that names it.
    ///   - list: The entry's list that has it.
    ///   - member: Where the value stands in an element of the list.
    /// - Throws: `CommandFailure`.
    mutating func removePending(_ value: String, from list: String, member: String) async throws {
        let elements = object[list] as? [[String: Any]] ?? []
        let others = elements.filter { $0[member] as? String != value }
        guard others.count < elements.count else { return }
        if try await OpenDraft.read().isLive(value, in: list, of: EntityKey(.applications, id)) == false { object[list] = others }
    }
}
