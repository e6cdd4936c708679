/// The content for the page's template: plain text everywhere; the template escapes it.
struct PageContent {
    enum Verdict: String {
        case passed, failed, neutral
    }

    struct Tile {
        var name: String
        var value: String
        var more = ""
        /// A class that colours the value: `passed`, `failed` or none.
        var kind = ""
    }

    struct Note {
        var text: String
        var isGrave = false
    }

    struct Cell {
        var text: String
        /// `text` for what is no number, `wide` for long text.
        var kind = ""
        /// A class; the text then looks like a verdict.
        var badge: String?

        init(_ text: String, kind: String = "", badge: String? = nil) { (self.text, self.kind, self.badge) = (text, kind, badge) }
    }

    struct Row {
        var name: String
        var cells: [Cell]
        var kind = ""
    }

    struct Table {
        /// The head, without a cell for the first column; empty: a table without a head.
        var head: [Cell] = []
        var rows: [Row]
    }

    struct Pairs {
        var title: String
        var rows: [(name: String, value: String)]
    }

    struct Section {
        var title: String
        var lead = ""
        var charts: [Chart] = []
        var tables: [Table] = []
        var pairs: [Pairs] = []
        var code = ""

        var isEmpty: Bool { charts.isEmpty && tables.isEmpty && pairs.isEmpty }
    }

    var title: String
    var heading: String
    var subtitle: String
    var verdict: String
    var verdictKind: Verdict
    var notes: [Note] = []
    var tiles: [Tile] = []
    var sections: [Section] = []
    var footer: String
}
