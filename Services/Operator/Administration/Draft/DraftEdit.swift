internal import CatalogueFiles
internal import CommandKit
internal import Foundation

/// Changes that one command makes to several entries of the draft: all of them, or none.
struct DraftEdit {
    /// An entry as the draft has it.
    struct Entry {
        let object: [String: Any]
        let etag: String?
    }

    private struct Former {
        let place: EntityKey
        /// `nil`: it was not there.
        let object: [String: Any]?
    }

    private let before: OpenDraft
    private var formers: [Former] = []

    /// Does the work; where it fails, every entry that it has read comes back to what it was.
    /// - Throws: The errors of the work; `CommandFailure` naming the entries that could not be brought back.
    static func together<Outcome>(_ work: (inout DraftEdit) async throws -> Outcome) async throws -> Outcome {
        var edit = DraftEdit(before: try await OpenDraft.read())
        do {
            return try await work(&edit)
        } catch {
            let left = await edit.takeBack()
            guard !left.isEmpty else { throw error }
            throw CommandFailure(
                "\(PlainReason.of(error)), and \(left.map(\.description).joined(separator: ", ")) could not be brought back",
                advice: "'boxoffice draft show' lists what the draft holds, 'boxoffice draft drop ENTRY' takes an entry out")
        }
    }

    private init(before: OpenDraft) { self.before = before }

    /// - Returns: The entry as the draft has it; `nil`: there is none.
    /// - Throws: `CommandFailure`.
    mutating func read(_ place: EntityKey) async throws -> Entry? {
        let answer = try await AdministrationCall.attempt("GET", place.path)
        guard answer.status != 404 else {
            note(place, nil)
            return nil
        }
        guard let object = try AdministrationCall.success(of: answer).object["entity"] as? [String: Any] else {
            throw CommandFailure("the cluster tells nothing of \(place)", advice: "it is of an earlier release: upgrade it")
        }
        note(place, object)
        return Entry(object: object, etag: answer.header("etag"))
    }

    /// Makes the entry, or puts it in place of what the draft has.
    /// - Throws: `CommandFailure` with what the cluster says of it.
    mutating func write(_ place: EntityKey, _ object: [String: Any]) async throws {
        let body = try AdministrationCall.json(object)
        guard let former = try await read(place) else {
            _ = try await AdministrationCall.send("POST", place.collection, body: body)
            return
        }
        guard try AdministrationCall.json(former.object) != body else { return }
        _ = try await AdministrationCall.send("PUT", place.path, body: body, ifMatch: former.etag)
    }

    private mutating func note(_ place: EntityKey, _ object: [String: Any]?) {
        guard !formers.contains(where: { $0.place == place }) else { return }
        formers.append(Former(place: place, object: object))
    }

    /// - Returns: The entries that could not be brought back.
    private func takeBack() async -> [EntityKey] {
        let places = Set(formers.map(\.place))
        // An entry that is live with an expired certificate would not be taken a second time as one of the draft.
        if before.changes.isEmpty, let now = try? await OpenDraft.read(), now.others(than: places).isEmpty {
            guard !now.changes.isEmpty else { return [] }
            return (try? await AdministrationCall.send("DELETE", "/draft")) == nil ? now.places : []
        }
        var left: [EntityKey] = []
        for former in formers.reversed() {
            do { try await Self.restore(former) } catch { left.append(former.place) }
        }
        return left
    }

    private static func restore(_ former: Former) async throws {
        let place = former.place
        let answer = try await AdministrationCall.attempt("GET", place.path)
        let now = try answer.status == 404 ? nil : AdministrationCall.success(of: answer).object["entity"] as? [String: Any]
        guard let object = former.object else {
            if now != nil { _ = try await AdministrationCall.send("DELETE", place.path, ifMatch: answer.header("etag")) }
            return
        }
        let body = try AdministrationCall.json(object)
        guard let now else {
            _ = try await AdministrationCall.send("POST", place.collection, body: body)
            return
        }
        if try AdministrationCall.json(now) != body {
            _ = try await AdministrationCall.send("PUT", place.path, body: body, ifMatch: answer.header("etag"))
        }
    }
}
