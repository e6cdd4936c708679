internal import Contracts
internal import Faults

/// A part of a list.
struct Page: Sendable {
    private static let largest: UInt32 = 200

    let number: UInt32
    let size: UInt32

    /// - Throws: `invalid_request`.
    init(_ request: PageRequest?) throws(Fault) {
        number = max(1, request?.page ?? 1)
        size = request.map { $0.size == 0 ? 50 : $0.size } ?? 50
        guard size <= Self.largest else { throw Fault(.invalidRequest, "A page has at most \(Self.largest) entries.") }
    }

    /// Entries on the pages before.
    var offset: Int { Int(number - 1) * Int(size) }

    func slice<Element>(_ elements: [Element]) -> ArraySlice<Element> {
        elements.dropFirst(offset).prefix(Int(size))
    }
}
