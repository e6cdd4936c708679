/// Where one is in a list of several pages.
struct PagerContent {
    let content: [String: Any]

    /// - Parameter address: Of a page.
    init(total: UInt32, page: UInt32, size: UInt32, address: (UInt32) -> String) {
        // Another implementation of the service counts as it likes.
        let page = max(1, page)
        let first = UInt64(page - 1) * UInt64(size) + 1
        let last = min(UInt64(page) * UInt64(size), UInt64(total))
        var pager: [String: Any] = ["range": total == 0 || first > last ? "None of \(total)" : "\(first)–\(last) of \(total)"]
        if page > 1 { pager["previousAddress"] = address(page - 1) }
        if last < total, first <= last { pager["nextAddress"] = address(page + 1) }
        content = ["pager": pager, "isEmpty": total == 0]
    }
}
