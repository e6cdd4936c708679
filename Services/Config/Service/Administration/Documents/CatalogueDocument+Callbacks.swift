internal import CatalogueFiles

/// Where OAuth providers send browsers back (`oauth.callback` of an MVPD). An entry that does not say it keeps what it has; a new one has an address of its own.
extension CatalogueDocument {
    private static let callback = ["oauth", "callback"]

    /// The same, in which each OAuth record that does not say its callback has that of another document, if it is there.
    func keepingCallbacks(of former: CatalogueDocument) -> CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback {
            guard let known = former[entry.key]?["oauth"]?["callback"] else { continue }
            document[entry.key] = entry.tree.with(Self.callback, known)
        }
        return document
    }

    /// Ids of OAuth records that do not say their callback.
    var unsaidCallbacks: [String] { entries(.mvpds).filter(\.hasUnsaidCallback).map(\.key.id) }

    /// Ids of those that share one.
    var sharers: Set<OctetText> { Set(texts: entries(.mvpds).filter { $0.tree["oauth"]?["callback"] == .string("shared") }.map(\.key.id)) }

    /// The same, in which OAuth records that do not say their callback share one, or say that it is their own where another document has said one.
    func sayingCallbacks(sharers: Set<OctetText>, over former: CatalogueDocument) -> CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback {
            if sharers.contains(OctetText(entry.key.id)) {
                document[entry.key] = entry.tree.with(Self.callback, .string("shared"))
            } else if former[entry.key]?["oauth"]?["callback"] != nil {
                document[entry.key] = entry.tree.with(Self.callback, .string("own"))
            }
        }
        return document
    }

    /// The same, in which OAuth records that do not say their callback share one, as all did before there were others.
    var sharingCallbacks: CatalogueDocument {
        var document = self
        for entry in entries(.mvpds) where entry.hasUnsaidCallback { document[entry.key] = entry.tree.with(Self.callback, .string("shared")) }
        return document
    }
}

extension CatalogueDocument.Entry {
    fileprivate var hasUnsaidCallback: Bool {
        guard case .object? = tree["oauth"] else { return false }
        return tree["oauth"]?["callback"] == nil
    }
}

extension JsonTree {
    fileprivate func with(_ path: [String], _ value: JsonTree) -> JsonTree {
        var tree = self
        tree.set(path[...], to: value)
        return tree
    }
}
