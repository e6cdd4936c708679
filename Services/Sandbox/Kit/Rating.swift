/// A scheme of parental ratings, mildest first.
enum Rating: Sendable {
    case television
    case film

    private var order: [String] {
        switch self {
        case .television: ["TV-Y", "TV-Y7", "TV-G", "TV-PG", "TV-14", "TV-MA"]
        case .film: ["G", "PG", "PG-13", "R", "NC-17"]
        }
    }

    /// - Returns: nil for a text that the scheme does not have.
    func rank(_ text: String) -> Int? {
        order.firstIndex(of: text.uppercased() == "TV-Y7-FV" ? "TV-Y7" : text.uppercased())
    }

    /// Whether a rating is within a limit; one that the scheme does not have is not.
    func allows(_ rating: String, limit: String?) -> Bool {
        guard let limit else { return true }
        guard let asked = rank(rating), let highest = rank(limit) else { return false }
        return asked <= highest
    }
}
