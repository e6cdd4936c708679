internal import Foundation

/// What one catalogue file has that another lacks.
enum CatalogueComparison {
    /// At most so many entries are named.
    private static let most = 20

    /// - Returns: Entries as `mvpds/NorthCable`; none when a file cannot be read: whoever reads it for real says why.
    static func lacking(in file: URL, of other: URL) -> [String] {
        let (own, others) = (entries(file), entries(other))
        let lacking = others.filter { !own.contains($0) }
        return lacking.count > most ? Array(lacking.prefix(most)) + ["\(lacking.count - most) more"] : lacking
    }

    private static func entries(_ file: URL) -> [String] {
        guard let content = FileManager.default.contents(atPath: file.path),
            let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return [] }
        return object.keys.sorted().flatMap { collection -> [String] in
            ((object[collection] as? [[String: Any]]) ?? []).compactMap { entry in
                let id = entry["id"] as? String ?? [entry["requestor"], entry["mvpd"]].compactMap { $0 as? String }.joined(separator: "/")
                return id.isEmpty ? nil : "\(collection)/\(id)"
            }
        }
    }
}
