%%% The last three moves of a game of tic-tac-toe, in the Prolog notation.
%%%
%%% How it is played: six marks are on the board already and white, who writes crosses, is to move; black
%%% writes noughts.  Three in a line win; a full board without a line is a draw.
%%%
%%%     x x o
%%%     . o .
%%%     . o x
%%%
%%% Coordinates: row 1 (top) to 3, column 1 (left) to 3.  cell(1, 3, o): a nought in the upper right corner;
%%% the mark b stands for a blank cell.
%%%
%%% Author: the herbrand project.

role(white).
role(black).

% What can be true, and what can be done

base(cell(Row, Column, b)) :- gap(Row, Column).
base(cell(Row, Column, Mark)) :- gap(Row, Column), writes(_Player, Mark).
base(cell(Row, Column, Mark)) :- given(Row, Column, Mark).
base(control(Player)) :- role(Player).

input(Player, mark(Row, Column)) :- role(Player), gap(Row, Column).
input(Player, noop) :- role(Player).

% The start

init(cell(Row, Column, Mark)) :- given(Row, Column, Mark).
init(cell(Row, Column, b)) :- gap(Row, Column).
init(control(white)).

given(1, 1, x).
given(1, 2, x).
given(1, 3, o).
given(2, 2, o).
given(3, 2, o).
given(3, 3, x).

gap(2, 1).
gap(2, 3).
gap(3, 1).

% Moves

legal(Player, mark(Row, Column)) :- true(control(Player)), true(cell(Row, Column, b)).
legal(Player, noop) :- rivals(Player, Other), true(control(Other)).

% A mark is written once and stays; a blank cell remains blank unless it is the one that is marked

next(cell(Row, Column, Mark)) :- does(Player, mark(Row, Column)), writes(Player, Mark).
next(cell(Row, Column, Mark)) :- true(cell(Row, Column, Mark)), Mark \= b.
next(cell(Row, Column, b)) :-
    does(_Player, mark(M, N)), true(cell(Row, Column, b)), (Row \= M ; Column \= N).
next(control(Player)) :- rivals(Player, Other), true(control(Other)).

% The end

terminal :- wins(_Player).
terminal :- \+ open.

goal(Player, 100) :- wins(Player).
goal(Player, 50) :- role(Player), \+ wins(white), \+ wins(black).
goal(Player, 0) :- rivals(Player, Other), wins(Other).

open :- true(cell(_Row, _Column, b)).

% Three in a line

wins(Player) :- writes(Player, Mark), line(Mark).

line(Mark) :- true(cell(Row, 1, Mark)), true(cell(Row, 2, Mark)), true(cell(Row, 3, Mark)).
line(Mark) :- true(cell(1, Column, Mark)), true(cell(2, Column, Mark)), true(cell(3, Column, Mark)).
line(Mark) :- true(cell(1, 1, Mark)), true(cell(2, 2, Mark)), true(cell(3, 3, Mark)).
line(Mark) :- true(cell(1, 3, Mark)), true(cell(2, 2, Mark)), true(cell(3, 1, Mark)).

% The two players

writes(white, x).
writes(black, o).

rivals(white, black).
rivals(black, white).
