internal import CommandKit
internal import Foundation

/// A harmless change of a catalogue file: another name of its first requestor.
struct CatalogueEdit {
    let file: URL

    /// - Throws: `CommandFailure` when the file is no catalogue.
    func make() throws {
        let text = try TextFile.read(file.path)
        guard var catalogue = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            var requestors = catalogue["requestors"] as? [[String: Any]], !requestors.isEmpty
        else { throw CommandFailure("\(file.path) has no requestors") }
        requestors[0]["name"] = "Changed \(UUID().uuidString.prefix(8))"
        catalogue["requestors"] = requestors
        try JSONSerialization.data(withJSONObject: catalogue, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            .write(to: file, options: .atomic)
    }
}
